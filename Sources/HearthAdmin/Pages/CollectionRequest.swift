import DocumentModel
import HearthService
import StrictJSON

/// What part of a collection a page shows, and how, as its address says.
///
/// ```
/// /admin/data/books?where=numberOfPages%20%3E%3D%20200&order=-numberOfPages&cols=title&size=100
/// ```
struct CollectionRequest: Sendable {
    /// How documents are shown.
    enum View: String, CaseIterable, Sendable {
        case table
        case map
        case colors
        case json
        case types
    }

    /// Where the part begins, or ends.
    enum Cursor: Hashable, Sendable {
        /// Behind this place.
        case after(UTF8Key)
        /// Before this place.
        case before(UTF8Key)

        /// The same with the place said in another way.
        func mapPlace(_ transform: (UTF8Key) -> UTF8Key) -> Cursor {
            switch self {
            case .after(let place): .after(transform(place))
            case .before(let place): .before(transform(place))
            }
        }
    }

    /// A field to sort by.
    struct Order: Hashable, Sendable {
        var field: FieldPath
        var isDescending = false
    }

    let path: CollectionPath
    var view = View.table
    /// The filters; empty rows are being written.
    var filters: [FilterRow] = []
    var orders: [Order] = []
    /// An ID where there are neither filters nor orders, else the JSON of a cursor.
    var cursor: Cursor?
    var size = Self.usualSize
    /// The columns that were chosen; those of the documents themselves when there are none.
    var columns: [FieldPath] = []
    /// The part of the Earth that the map shows; that around the points when nil.
    var frame: MapFrame?
    /// Whether colours come in the order of the documents instead of that of their hues.
    var keepsColorOrder = false

    /// The page sizes to choose from.
    static let sizes: [PageSize] = [25, 50, 100, 200]
    /// As many filters as make a query whose address browsers and proxies still take.
    static let maximumFilterCount = 20

    /// Reads the query; what it doesn't say, or says unreadably, is as usual.
    ///
    /// - Throws: `invalidArgument` for an order or a column that is no field path.
    init(path: CollectionPath, query: Query) throws(StatusError) {
        self.path = path
        view = query["view"].flatMap { name in View.allCases.first { UTF8Key($0.rawValue) == name } } ?? .table
        filters = FilterRow.bounded(query.values(of: "where").map { FilterRow($0) })
        for text in query.values(of: "order") { orders.append(try Order(text)) }
        for text in query.values(of: "cols") where text.byteCount > 0 { columns.append(try FieldText.path(text.string)) }
        cursor = query["before"].map { .before($0) } ?? query["after"].map { .after($0) }
        let size = query["size"].flatMap { Int($0.string) }
        self.size = Self.sizes.first { $0.count == size } ?? Self.usualSize
        frame = query["box"].flatMap { MapFrame($0) }
        keepsColorOrder = query["sort"] == "document"
    }

    /// Whether all that the filters find is shown, page by page: an order leaves out what lacks its field.
    var isFilter: Bool { orders.isEmpty && isQuery }
    /// Whether the documents are found by a query; else they are listed, and those that don't exist with them.
    var isQuery: Bool { !orders.isEmpty || filters.contains { !$0.isBlank } }

    /// How many documents are shown: maps and palettes have room for more than tables.
    var count: PageSize { hasSizes ? size : 1_000 }

    /// Whether the size of the page can be chosen.
    var hasSizes: Bool { view != .map && view != .colors }

    private static let usualSize: PageSize = 50
}

extension CollectionRequest {
    /// The address of the same collection with something else of it.
    func url(_ change: (inout CollectionRequest) -> Void = { _ in }) -> String {
        var request = self
        change(&request)
        return AdminURL.collection(path, query: request.items)
    }

    /// The items of the address's query.
    var items: [(name: StaticString, value: UTF8Key)] {
        var items: [(name: StaticString, value: UTF8Key)] = []
        if view != .table { items.append(("view", UTF8Key(view.rawValue))) }
        items += filters.compactMap(\.text).map { ("where", $0) }
        items += orders.map { ("order", UTF8Key($0.text)) }
        items += columns.map { ("cols", UTF8Key(FieldText.text($0))) }
        switch cursor {
        case .after(let place)?: items.append(("after", place))
        case .before(let place)?: items.append(("before", place))
        case nil: break
        }
        if size != Self.usualSize { items.append(("size", UTF8Key(String(size.count)))) }
        if view == .map, let frame { items.append(("box", UTF8Key(frame.text))) }
        if view == .colors, keepsColorOrder { items.append(("sort", "document")) }
        return items
    }
}

extension CollectionRequest.Order {
    /// Reads `updated`, or `-updated` for the greatest first.
    init(_ text: UTF8Key) throws(StatusError) {
        isDescending = text.utf8.first == UInt8(ascii: "-")
        field = try FieldText.path(String(Substring(text.utf8.dropFirst(isDescending ? 1 : 0))))
    }

    var text: String { (isDescending ? "-" : "") + FieldText.text(field) }
}
