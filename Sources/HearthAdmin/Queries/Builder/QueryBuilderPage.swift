import DocumentModel
import HTTPTypes
import HearthAPI
import StrictJSON
import UTF8Text

/// The query builder: a form for queries, with the results or the plan, and the query as code.
struct QueryBuilderPage: Page {
    static let template = TemplateLibrary.Name.queryBuilder

    /// A group of filters.
    struct Group: ViewModel {
        /// The number of the group in the form; 0 for the filters outside of groups.
        let groupIndex: Int
        let isInner: Bool
        let matchesMarkup: Markup
        let rows: [FilterFormView.Row]
        let canAdd: Bool
    }

    /// A row of the sort order.
    struct OrderRow: ViewModel {
        let index: Int
        /// The one-based number of the row, for screen readers.
        let number: Int
        let field: String
        let directionsMarkup: Markup
        let point: String
        let rowError: DisplayText?
        let isRemovable: Bool
    }

    /// Suggestions for the fields of the form.
    struct Suggestions: Sendable {
        var collections: [CollectionID] = []
        var fields: [FieldPath] = []
    }

    var layout = PageLayout(title: localized("Query"), section: .query)
    let status: HTTPResponse.Status
    private let action = AdminURL.query
    private let resultsURL = AdminURL.queryResults
    private let viewsMarkup: Markup
    private let queryError: DisplayText?
    private let collection: String
    private let collectionError: DisplayText?
    private let scopesMarkup: Markup
    private let collectionsMarkup: Markup
    private let fieldsMarkup: Markup
    private let groups: [Group]
    private let canAddGroup: Bool
    private let filterError: DisplayText?
    private let orderRows: [OrderRow]
    private let canAddOrder: Bool
    private let limit: String
    private let limitError: DisplayText?
    private let offset: String
    private let offsetError: DisplayText?
    private let call: CallSnippet?
    /// The parameters of `query.run`; `nil` while the query is invalid.
    private let paramsText: String?
    /// The ID of the key whose queries the browser keeps; empty without one.
    private let owner: String
    /// The query as code for each library.
    private let libraries: [QueryCode]
    private let hasCode: Bool
    private let results: QueryResultsView?

    /// Creates the page.
    ///
    /// - Parameters:
    ///   - builder: The filled-in form.
    ///   - params: The parameters of the query, if it is valid.
    ///   - outcome: The outcome; `nil` if the query was not run.
    ///   - indexAdvice: The index that an explained query would benefit from.
    init(
        _ builder: QueryBuilder,
        params: [UInt8]?,
        outcome: QueryInput.Outcome?,
        indexAdvice: IndexAdviceView? = nil,
        suggestions: Suggestions,
        commands: ShellCommands,
        owner: UTF8Key?
    ) {
        self.owner = owner?.string ?? ""
        status = builder.isValid ? .ok : .badRequest
        queryError = builder.otherError.map { DisplayText($0) }
        collection = builder.collection
        collectionError = builder.collectionError.map { DisplayText($0) }
        scopesMarkup =
            [
                FormOption("collection", localized("Collection"), isSelected: !builder.isGroup),
                FormOption("group", localized("Collection group"), isSelected: builder.isGroup),
            ]
            .optionsMarkup
        collectionsMarkup = suggestions.collections.map { FormOption($0.key.string, "", isSelected: false) }.optionsMarkup
        fieldsMarkup = suggestions.fields.map { FormOption(FieldPathText.text($0), "", isSelected: false) }.optionsMarkup
        groups = Self.groups(of: builder)
        canAddGroup = builder.groups.count <= QueryBuilder.maximumGroupCount
        filterError = builder.filterError.map { DisplayText($0) }
        let orders = builder.orders.isEmpty ? [QueryBuilder.OrderRow()] : builder.orders
        orderRows = orders.enumerated().map { OrderRow($0.element, at: $0.offset) }
        canAddOrder = builder.orders.count < QueryBuilder.maximumOrderCount
        limit = builder.limit
        limitError = builder.limitError.map { DisplayText($0) }
        offset = builder.offset
        offsetError = builder.offsetError.map { DisplayText($0) }
        call = params.map { CallSnippet(MethodCall(RunQuery.name, params: $0), commands: commands) }
        paramsText = params.flatMap { (try? JSONText($0).root).map(JSONPrettyPrinter.text) }
        libraries = params.map { QueryCode.all(params: $0) } ?? []
        hasCode = !libraries.isEmpty
        viewsMarkup = Self.views(json: paramsText, showsBuilder: true)
        var values = ValueViewBuilder()
        results = outcome.map { QueryResultsView($0, indexAdvice: indexAdvice, values: &values) }
        layout.colors = values.colors
    }

    /// Returns the links to the builder and to the query as JSON.
    ///
    /// - Parameter json: The query as JSON; `nil` for an example.
    static func views(json: String?, showsBuilder: Bool) -> Markup {
        let query: (name: StaticString, value: UTF8Key) = json.map { ("query", UTF8Key($0)) } ?? ("view", "json")
        return [
            LinkOption(text: localized("Query builder"), url: AdminURL.query, isCurrent: showsBuilder),
            LinkOption(text: "JSON", url: AdminURL.query + AdminURL.query([query]), isCurrent: !showsBuilder),
        ]
        .itemsMarkup(current: "page")
    }

    private static func groups(of builder: QueryBuilder) -> [Group] {
        let count = builder.groups.reduce(0) { $0 + max(1, $1.rows.count) }
        var nextIndex = 0
        return builder.groups.enumerated().map { index, group in
            let rows = group.rows.isEmpty ? [FilterRow()] : group.rows
            let first = nextIndex
            nextIndex += rows.count
            return Group(
                groupIndex: index,
                isInner: index > 0,
                matchesMarkup: [
                    FormOption("all", localized("all filters"), isSelected: !group.isDisjunction),
                    FormOption("any", localized("at least one filter"), isSelected: group.isDisjunction),
                ]
                .optionsMarkup,
                rows: rows.enumerated().map { position, row in
                    FilterFormView.Row(row, at: first + position, group: index, isRemovable: !row.isBlank || rows.count > 1)
                },
                canAdd: count < CollectionRequest.maximumFilterCount
            )
        }
    }
}

extension QueryBuilderPage.OrderRow {
    fileprivate init(_ row: QueryBuilder.OrderRow, at index: Int) {
        self.init(
            index: index,
            number: index + 1,
            field: row.field,
            directionsMarkup: QueryBuilder.OrderRow.Direction.allCases.map { direction in
                FormOption(direction.rawValue, direction.name, isSelected: direction == row.direction)
            }
            .optionsMarkup,
            point: row.point,
            rowError: row.error.map { DisplayText($0) },
            isRemovable: !row.isBlank || index > 0
        )
    }
}

extension QueryBuilder.OrderRow.Direction {
    /// The localized name.
    fileprivate var name: String {
        switch self {
        case .ascending: localized("Ascending")
        case .descending: localized("Descending")
        case .nearest: localized("Nearest first")
        case .farthest: localized("Farthest first")
        }
    }
}
