import DocumentModel
import HearthAPI
import UTF8Text

/// The view, filters, order and page of a collection, as encoded in a page's URL.
///
/// ```
/// /admin/data/books?where=numberOfPages%20%3E%3D%20200&order=-numberOfPages&cols=title&size=100
/// ```
struct CollectionRequest: Sendable {
    /// A view of the documents.
    enum View: String, CaseIterable, Sendable {
        case table
        case panels
        case map
        case colors
        case json
        case types
    }

    /// The position where a page starts or ends.
    enum Cursor: Hashable, Sendable {
        /// The page starts after this position.
        case after(UTF8Key)
        /// The page ends before this position.
        case before(UTF8Key)

        /// Returns the cursor with a transformed position.
        func mapPosition(_ transform: (UTF8Key) -> UTF8Key) -> Cursor {
            switch self {
            case .after(let position): .after(transform(position))
            case .before(let position): .before(transform(position))
            }
        }
    }

    /// A sort field with its direction.
    struct Order: Hashable, Sendable {
        var field: FieldPath
        var isDescending = false
    }

    let path: CollectionPath
    var view = View.table
    /// The filters; a blank row is one not yet filled in.
    var filters: [FilterRow] = []
    var orders: [Order] = []
    /// A document ID for a list, the JSON array of sort values for a query.
    var cursor: Cursor?
    /// The position of the first document of a query's page, as of the page before; `nil` if it is unknown.
    var position: Int?
    var size = Self.defaultSize
    /// The chosen columns; empty to show the fields of the documents.
    var columns: [FieldPath] = []
    /// The document that is selected in the panels; `nil` for none.
    var document: DocumentPath.ID?
    /// The area of the map; `nil` to fit it to the points.
    var viewport: MapViewport?
    /// True if colors are sorted by document instead of by hue.
    var sortsColorsByDocument = false
    /// True if the cells of the table have links that filter by their values.
    var offersValueFilters = false

    /// The available page sizes.
    static let sizes: [PageSize] = [25, 50, 100, 200]
    /// The maximum number of filters, which keeps the URL within the limits of browsers and proxies.
    static let maximumFilterCount = 20

    /// Creates the request of a collection's first page.
    init(path: CollectionPath) {
        self.path = path
    }

    /// Decodes a URL query. Absent and malformed items get their default values.
    ///
    /// - Throws: `invalidArgument` for a sort field or a column that is not a field path.
    init(path: CollectionPath, query: URLQuery) throws(StatusError) {
        self.path = path
        view = query["view"].flatMap { name in View.allCases.first { UTF8Key($0.rawValue) == name } } ?? .table
        filters = FilterRow.markingExcess(query.values(of: "where").map { FilterRow($0) })
        for text in query.values(of: "order") { orders.append(try Order(text)) }
        for text in query.values(of: "cols") where text.byteCount > 0 { columns.append(try FieldPathText.path(text.string)) }
        cursor = query["before"].map { .before($0) } ?? query["after"].map { .after($0) }
        position = query["at"].flatMap { PageJump.number($0.string) }
        let size = query["size"].flatMap { Int($0.string) }
        self.size = Self.sizes.first { $0.count == size } ?? Self.defaultSize
        document = view == .panels ? query["document"].flatMap { try? DocumentPath.ID($0.string) } : nil
        viewport = query["box"].flatMap { MapViewport($0) }
        sortsColorsByDocument = query["sort"] == "document"
        offersValueFilters = view == .table && query["cells"] == "filters"
    }

    /// True if the request has filters but no sort order, which would exclude documents without the sort field.
    var isFilter: Bool { orders.isEmpty && isQuery }
    /// True if the documents are found by a query; otherwise they are listed, including missing documents.
    var isQuery: Bool { !orders.isEmpty || filters.contains { !$0.isBlank } }

    /// The number of documents on a page: maps and palettes show more than tables.
    var pageSize: PageSize { hasSelectableSize ? size : 1_000 }

    /// True if the page size is selectable.
    var hasSelectableSize: Bool { view != .map && view != .colors }

    private static let defaultSize: PageSize = 50
}

extension CollectionRequest {
    /// Returns the URL of a changed request for the same collection.
    func url(_ change: (inout CollectionRequest) -> Void = { _ in }) -> String {
        var request = self
        change(&request)
        return AdminURL.collection(path, query: request.items)
    }

    /// The items of the URL's query for the first page.
    var itemsWithoutCursor: [(name: StaticString, value: UTF8Key)] {
        var request = self
        request.cursor = nil
        return request.items
    }

    /// The items of the URL's query.
    var items: [(name: StaticString, value: UTF8Key)] {
        var items: [(name: StaticString, value: UTF8Key)] = []
        if view != .table { items.append(("view", UTF8Key(view.rawValue))) }
        items += filters.compactMap(\.text).map { ("where", $0) }
        items += orders.map { ("order", UTF8Key($0.text)) }
        items += columns.map { ("cols", UTF8Key(FieldPathText.text($0))) }
        switch cursor {
        case .after(let position)?: items.append(("after", position))
        case .before(let position)?: items.append(("before", position))
        case nil: break
        }
        if cursor != nil, isQuery, let position { items.append(("at", UTF8Key(String(position)))) }
        if size != Self.defaultSize { items.append(("size", UTF8Key(String(size.count)))) }
        if view == .panels, let document { items.append(("document", document.key)) }
        if view == .map, let viewport { items.append(("box", UTF8Key(viewport.text))) }
        if view == .colors, sortsColorsByDocument { items.append(("sort", "document")) }
        if view == .table, offersValueFilters { items.append(("cells", "filters")) }
        return items
    }
}

extension CollectionRequest.Order {
    /// Parses `updated`, or `-updated` for descending order.
    init(_ text: UTF8Key) throws(StatusError) {
        isDescending = text.utf8.first == UInt8(ascii: "-")
        field = try FieldPathText.path(String(Substring(text.utf8.dropFirst(isDescending ? 1 : 0))))
    }

    var text: String { (isDescending ? "-" : "") + FieldPathText.text(field) }
}
