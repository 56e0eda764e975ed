import DocumentModel
import UTF8Text

/// The collections of a database as the tree in the side list, opened along the path of the page.
struct CollectionTree: Sendable {
    /// A collection in the tree.
    struct Node: Sendable {
        let path: CollectionPath
        /// True if the page shows the collection or a document in it.
        let isCurrent: Bool
        /// The subcollections, if the node is open; `nil` if it is collapsed and they are unknown.
        var children: [Node]?
        /// True if there may be more subcollections than known.
        var hasMore = false
    }

    private(set) var nodes: [Node]

    /// Creates the tree.
    ///
    /// - Parameters:
    ///   - roots: The root collections.
    ///   - location: The collection or document that the page shows.
    ///   - known: Subcollections of the documents on the way there.
    ///   - isComplete: Whether `known` has all subcollections in the collection of the page.
    init(_ roots: [CollectionPath], at location: ResourcePath?, known: [CollectionPath], isComplete: Bool) {
        let way = location?.collections ?? []
        nodes = roots.map { Self.node($0, way: way, known: known, isComplete: isComplete) }
    }

    private static func node(_ path: CollectionPath, way: [CollectionPath], known: [CollectionPath], isComplete: Bool) -> Node {
        var node = Node(path: path, isCurrent: path == way.last)
        guard let depth = way.firstIndex(of: path) else { return node }
        let next = depth + 1 < way.count ? [way[depth + 1]] : []
        let children = Set((known + next).filter { $0.parent?.collection == path }).sorted()
        node.hasMore = !next.isEmpty || !isComplete
        node.children = children.map { self.node($0, way: way, known: known, isComplete: isComplete) }
        return node
    }
}

extension ResourcePath {
    /// The IDs of the path.
    var segments: [UTF8Key] {
        switch self {
        case .collection(let path): path.segments
        case .document(let path): path.segments
        }
    }

    /// The collections on the path, from the root.
    var collections: [CollectionPath] {
        var collections: [CollectionPath] = []
        var current: CollectionPath? =
            switch self {
            case .collection(let path): path
            case .document(let path): path.collection
            }
        while let path = current {
            collections.insert(path, at: 0)
            current = path.parent?.collection
        }
        return collections
    }
}

extension AdminURL {
    /// The page that lists the subcollections of a collection.
    static func subcollections(of path: CollectionPath, after previous: DocumentPath? = nil) -> String {
        var items: [(name: StaticString, value: UTF8Key)] = [("below", UTF8Key(path.string))]
        if let previous { items.append(("after", UTF8Key(previous.string))) }
        return find + query(items)
    }
}
