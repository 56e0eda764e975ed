import DocumentModel
import HearthAPI
import UTF8Text

/// The parts shared by the views of a collection: heading, paging, views, filters, export and damaged files.
struct CollectionControls: ViewModel {
    private let heading: PathHeading
    private let viewsMarkup: Markup
    private let hasPages: Bool
    private let firstURL: String?
    private let previousURL: String?
    private let nextURL: String?
    private let lastURL: String?
    private let jumpForm: JumpForm
    private let hasSizes: Bool
    private let sizesMarkup: Markup
    private let hasCount: Bool
    private let count: String
    private let damaged: DamagedFileList?
    private let filterForm: FilterFormView
    private let queryError: DisplayText?
    /// The field that would have to be indexed; `nil` if all are.
    private let exemptField: DisplayText?
    /// The equivalent call; `nil` if the query is invalid.
    private let call: CallSnippet?
    /// The query builder with the filters and the order of the page.
    private let builderURL: String
    private let exportForm: ExportForm
    private let isEmpty: Bool
    private let isQuery: Bool
    private let hasEmptyQuery: Bool
    /// The page without filters and orders.
    private let plainURL: String
    private let newURL: String
    private let deleteURL: String
    private let editSelectionURL: String
    /// The actions on all documents, those of other pages included; `nil` on a page that shows all of them, and in a sort order.
    private let allMatching: AllMatchingView?
    private let canDeleteMatching: Bool
    private let deleteMatchingURL: String

    /// - Parameters:
    ///   - filters: The rows of the filter form.
    ///   - documentCount: The number of documents on the page.
    ///   - fields: The fields of the documents.
    ///   - count: The total number of matching documents; `nil` if it is unknown.
    ///   - position: The position of the page.
    ///   - commands: Formats the shell commands to copy.
    init(
        _ results: CollectionResults,
        filters: [FilterRow],
        documentCount: Int,
        fields: [FieldPath],
        hasColors: Bool,
        hasGeoPoints: Bool,
        count: BoundedCount?,
        position: PagePosition,
        commands: ShellCommands
    ) {
        let request = results.request
        let isValid = results.error == nil
        heading = PathHeading(request.path.segments)
        let views: [(CollectionRequest.View, String, Bool)] = [
            (.table, localized("Table"), true), (.panels, localized("Panels"), true), (.map, localized("Map"), hasGeoPoints),
            (.colors, localized("Colors"), hasColors), (.json, "JSON", true), (.types, localized("Types"), true),
        ]
        viewsMarkup = views.filter { $0.2 || $0.0 == request.view }.map { view, text, _ in
            LinkOption(text: text, url: request.url { $0.view = view }, isCurrent: view == request.view)
        }
        .itemsMarkup(current: "page")
        let sizes = request.hasSelectableSize ? CollectionRequest.sizes : []
        hasSizes = !sizes.isEmpty
        sizesMarkup = sizes.map { size in
            LinkOption(
                text: NumberFormat.grouped(size.count),
                url: request.url { $0.size = size },
                isCurrent: size == request.size
            )
        }
        .itemsMarkup(current: "true")
        firstURL = request.cursor == nil ? nil : request.url { $0.cursor = nil }
        let pageSize = request.pageSize.count
        previousURL = results.previous.map { cursor in
            request.url { ($0.cursor, $0.position) = (cursor, position.first.map { max(1, $0 - pageSize) }) }
        }
        nextURL = results.next.map { cursor in
            request.url { ($0.cursor, $0.position) = (cursor, position.first.map { $0 + documentCount }) }
        }
        lastURL = results.next.map { _ in
            AdminURL.collection(request.path, query: request.itemsWithoutCursor + [("page", "last")])
        }
        jumpForm = JumpForm(request, problem: position.problem)
        hasPages = firstURL != nil || previousURL != nil || nextURL != nil || position.problem != nil
        hasCount = isValid
        self.count = Self.text(of: count, shown: documentCount, first: position.first, isComplete: results.isComplete)
        damaged = DamagedFileList(results.damaged)
        filterForm = FilterFormView(request, filters: filters, fields: fields)
        exemptField = results.exemptField.map { DisplayText($0) }
        queryError = exemptField == nil ? results.error.map { DisplayText($0.message) } : nil
        call = results.call.params.utf8.isEmpty ? nil : CallSnippet(results.call, commands: commands)
        builderURL = QueryBuilder(request).url
        exportForm = ExportForm(request, hasGeoPoints: hasGeoPoints)
        isEmpty = results.entries.isEmpty && results.damaged.isEmpty && isValid
        isQuery = request.isQuery
        hasEmptyQuery = request.isQuery && results.entries.isEmpty && isValid
        plainURL = request.url { ($0.filters, $0.orders, $0.cursor) = ([], [], nil) }
        newURL = EditTarget(newIn: request.path).url(asJSON: false)
        deleteURL = AdminURL.collection(request.path) + "?delete"
        editSelectionURL = AdminURL.collection(request.path) + "?edit"
        allMatching =
            isValid && !results.isComplete && request.orders.isEmpty
            ? AllMatchingView(request, deleteURL: deleteURL, count: count) : nil
        canDeleteMatching = request.isFilter && isValid && !results.entries.isEmpty
        deleteMatchingURL = AdminURL.delete(matching: request)
    }

    /// The actions on all documents of a collection, or on all that match its filters.
    private struct AllMatchingView: ViewModel {
        let text: String
        let editURL: String
        let deleteURL: String

        init(_ request: CollectionRequest, deleteURL: String, count: BoundedCount?) {
            text = count.map { localized("All {count} documents:", ["count": $0.text]) } ?? localized("All documents:")
            editURL = AdminURL.edit(matching: request)
            self.deleteURL = request.isQuery ? AdminURL.delete(matching: request) : deleteURL
        }
    }

    private static func text(of count: BoundedCount?, shown: Int, first: Int?, isComplete: Bool) -> String {
        if isComplete {
            localized(count: shown, one: "{count} document", other: "{count} documents")
        } else if let first, shown > 0 {
            range(from: first, to: first + shown - 1, of: count)
        } else if let count {
            localized("{shown} of {total} documents", ["shown": NumberFormat.grouped(shown), "total": count.text])
        } else {
            localized(count: shown, one: "{count} document on this page", other: "{count} documents on this page")
        }
    }

    private static func range(from first: Int, to last: Int, of count: BoundedCount?) -> String {
        let isPastCount = count.map { $0.isLowerBound && last >= $0.value } ?? true
        let (first, last) = (NumberFormat.grouped(first), NumberFormat.grouped(last))
        guard let count, !isPastCount else { return localized("Documents {first}–{last}", ["first": first, "last": last]) }
        return localized("{first}–{last} of {total} documents", ["first": first, "last": last, "total": count.text])
    }
}
