import DocumentModel
import HearthService
import StrictJSON

/// What part of a collection a page shows, and how, as its address says.
struct CollectionRequest: Sendable {
    /// How documents are shown.
    enum View: Sendable {
        case table
        case map
    }

    let path: CollectionPath
    let view: View
    let after: DocumentID?
    let size: PageSize
    /// Whether the map shows the whole Earth instead of the neighbourhood of the points.
    let showsWorld: Bool

    /// The page sizes to choose from.
    static let sizes: [PageSize] = [25, 50, 100, 200]

    /// Reads the query; what it doesn't say, or says unreadably, is as usual.
    ///
    /// - Throws: `invalidArgument` when `after` can't be an ID.
    init(path: CollectionPath, query: Query) throws(StatusError) {
        self.path = path
        view = query["view"] == "map" ? .map : .table
        after = if let text = query["after"] { try DocumentID(text.string) } else { nil }
        let size = query["size"].flatMap { Int($0.string) }
        self.size = Self.sizes.first { $0.count == size } ?? Self.usualSize
        showsWorld = query["box"] == "world"
    }

    /// The address of the same collection with something else of it.
    func url(view: View? = nil, after: DocumentID?, size: PageSize? = nil, showsWorld: Bool? = nil) -> String {
        var items: [(name: StaticString, value: UTF8Key)] = []
        if (view ?? self.view) == .map { items.append(("view", "map")) }
        if let after { items.append(("after", after.key)) }
        let size = size ?? self.size
        if size != Self.usualSize { items.append(("size", UTF8Key(String(size.count)))) }
        if showsWorld ?? self.showsWorld { items.append(("box", "world")) }
        return AdminURL.collection(path, query: items)
    }

    private static let usualSize: PageSize = 50
}
