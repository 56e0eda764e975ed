import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The types of each field of a collection, and the documents whose type is unusual.
struct CollectionTypesPage: Page {
    static let template = TemplateLibrary.Name.collectionTypes

    /// A type of a field.
    struct TypeCount: ViewModel {
        let type: String
        let count: String
        let isRare: Bool
        /// The table filtered to these documents.
        let url: String
    }

    /// A document with an unusual type.
    struct RareDocument: ViewModel {
        let link: LinkView
        let type: String
        let value: ValueView
    }

    /// The row of a field.
    struct Row: ViewModel {
        let field: DisplayText
        let types: [TypeCount]
        let isIndexed: Bool
        let documents: [RareDocument]
        let hasDocuments: Bool
        let hasMore: Bool
    }

    var layout: PageLayout
    private let collection: CollectionControls
    private let typeRows: [Row]
    private let hasTypeRows: Bool
    private let hasRareTypes: Bool
    private let sampleCount: String
    /// The number of fields beyond the limit; `nil` if all are listed.
    private let hiddenFields: String?

    /// Counts the types of the fields that occur in a sample: the documents of the page and the last ones of the collection.
    init(_ contents: CollectionContents, in context: ServiceContext) async throws(StatusError) {
        collection = contents.controls
        let request = contents.results.request
        let last = StructuredQuery(
            .collection(request.path),
            orders: [StructuredQuery.Order(.field(.documentName), .descending)],
            limit: .first(Self.sampleSize)
        )
        var sample = contents.documents
        let known = Set(sample.map(\.path))
        for document in try await RunQuery.call(.init(NormalizedQuery(last)), in: context).documents
        where !known.contains(document.path) {
            sample.append(try document.decoded())
        }
        sampleCount = NumberFormat.grouped(sample.count)
        let fields = CollectionColumns.fields(of: sample, depth: 1, limit: Self.fieldLimit)
        let hiddenCount = fields.count - Self.fieldLimit
        hiddenFields =
            hiddenCount > 0
            ? localized(
                count: hiddenCount,
                one: "{count} more field isn’t listed.",
                other: "{count} more fields aren’t listed."
            ) : nil
        var values = ValueViewBuilder()
        var rows: [Row] = []
        for field in fields.prefix(Self.fieldLimit) {
            let types = await FieldTypeCounts(of: field, in: request.path, context: context)
            rows.append(try await Self.row(types, in: request, context: context, values: &values))
        }
        typeRows = rows
        hasTypeRows = !rows.isEmpty
        hasRareTypes = rows.contains(where: \.hasDocuments)
        layout = PageLayout(at: request.path.segments)
        layout.colors = values.colors
    }
}

extension CollectionTypesPage {
    private static func row(
        _ types: FieldTypeCounts,
        in request: CollectionRequest,
        context: ServiceContext,
        values: inout ValueViewBuilder
    ) async throws(StatusError) -> Row {
        var documents: [RareDocument] = []
        var hasMore = false
        for count in types.counts ?? [] where count.isRare {
            guard let query = FieldTypeCounts.query(for: count.type, of: types.field, in: request.path, limit: documentLimit)
            else {
                continue
            }
            for encoded in try await RunQuery.call(.init(query), in: context).documents {
                let document = try encoded.decoded()
                guard let value = document.fields[types.field] else { continue }
                documents.append(
                    RareDocument(
                        link: LinkView(toRowOf: document.path),
                        type: count.type.name,
                        value: values.view(of: value, in: .cell)
                    )
                )
            }
            if count.count.value > documentLimit { hasMore = true }
        }
        return Row(
            field: DisplayText(types.field.segments.first?.string ?? ""),
            types: (types.counts ?? []).map { count in
                TypeCount(
                    type: count.type.name,
                    count: count.count.text,
                    isRare: count.isRare,
                    url: request.url { request in
                        var filter = FilterRow()
                        filter.field = FieldPathText.text(types.field)
                        filter.op = count.type.condition.op
                        filter.operand = ValueInput(count.type.condition.operand)
                        request.view = .table
                        request.filters = [filter]
                        (request.orders, request.cursor) = ([], nil)
                    }
                )
            },
            isIndexed: types.counts != nil,
            documents: documents,
            hasDocuments: !documents.isEmpty,
            hasMore: hasMore
        )
    }

    private static let sampleSize = 100
    private static let fieldLimit = 40
    private static let documentLimit = 20
}
