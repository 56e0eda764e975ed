import DocumentModel

/// The collections, documents and pages found for a text in the search box.
struct FinderResults: Sendable {
    /// The URL of what the text names exactly, such as an existing document; `nil` if there is none.
    var destination: String?
    /// The path that the text names, if nothing exists there.
    var missing: ResourcePath?
    /// The reason why the text or the search was rejected.
    var problem: String?
    private(set) var collections: [CollectionPath] = []
    private(set) var documents: [DocumentPath] = []
    private(set) var commands: [PageCommand] = []
    /// True if there are more matches than listed.
    private(set) var hasMore = false
    /// The parts of the database that were not searched.
    var omissions: Set<Omission> = []

    /// A part of the database that was not searched.
    enum Omission: Sendable {
        /// Root collections that were not listed, or collections in which the ID was not looked up.
        case collections
        /// Subcollections that were not found.
        case subcollections
    }

    /// True if nothing was found.
    var isEmpty: Bool { collections.isEmpty && documents.isEmpty && commands.isEmpty }

    /// Adds collections that are not yet among the results, up to a limit.
    mutating func add(_ found: some Sequence<CollectionPath>, atMost limit: Int) {
        for path in found where !collections.contains(path) {
            if collections.count < limit { collections.append(path) } else { hasMore = true }
        }
    }

    /// Adds documents that are not yet among the results, up to a limit.
    mutating func add(_ found: some Sequence<DocumentPath>, atMost limit: Int) {
        for path in found where !documents.contains(path) {
            if documents.count < limit { documents.append(path) } else { hasMore = true }
        }
    }

    /// Adds commands up to a limit.
    mutating func add(_ found: some Sequence<PageCommand>, atMost limit: Int) {
        for command in found {
            if commands.count < limit { commands.append(command) } else { hasMore = true }
        }
    }
}
