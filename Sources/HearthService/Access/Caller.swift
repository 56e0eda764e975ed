package import DocumentModel
package import StrictJSON

/// Who calls, and what it may do.
package struct Caller: Hashable, Sendable {
    /// How a caller is known.
    package enum Identity: Hashable, Sendable {
        /// The program itself, for whoever runs it.
        case program
        /// Who has shown nothing, where there are keys.
        case nobody
        /// Anybody, while there are no keys.
        case anybody
        /// Who has the key with this ID.
        case key(UTF8Key)

        /// The ID of the key; nil for who has none.
        var keyID: UTF8Key? {
            if case .key(let id) = self { id } else { nil }
        }
    }

    package let identity: Identity
    package let role: Role
    /// The collections that it may use, with all that is below them; nil for the whole database.
    package let collections: [CollectionPath]?

    /// The program itself, which may do everything.
    package static let program = Caller(.program, role: .admin)
    /// Anybody who reaches a server that has no keys. May do everything but make the first key, which is left to who owns the
    /// data folder.
    package static let anybody = Caller(.anybody, role: .admin)

    /// Who has to show a key first. May use no collection, and is refused by every method.
    package static let nobody = Caller(.nobody, role: .reader, collections: [])

    private init(_ identity: Identity, role: Role, collections: [CollectionPath]? = nil) {
        self.identity = identity
        self.role = role
        self.collections = collections
    }

    init(_ key: AccessKey) {
        self.init(.key(key.id), role: key.role, collections: key.collections)
    }
}

extension Caller {
    /// Makes sure that the caller may use a collection.
    ///
    /// - Throws: ``StatusCode/permissionDenied``, whether or not the collection exists.
    package func check(_ collection: CollectionPath) throws(StatusError) {
        try check(collection, path: collection.string)
    }

    /// Makes sure that the caller may use a document, and what is below it.
    package func check(_ document: DocumentPath) throws(StatusError) {
        try check(document.collection, path: document.string)
    }

    /// Makes sure that the caller may use everything below a document, or below the root when it is nil.
    package func checkAll(below document: DocumentPath?) throws(StatusError) {
        if let document { return try check(document) }
        guard let collections else { return }
        throw StatusError(
            .permissionDenied,
            "The key is for \(Self.list(collections)) only, and this concerns the whole database. Name a document in these as the "
                + "parent, or use a key for all."
        )
    }

    /// The collections right below a document, or at the top of the database when it is nil, that the caller may use; nil when it
    /// may use all that are there.
    ///
    /// - Throws: ``StatusCode/permissionDenied`` when it may use none below the document.
    func usableCollections(below document: DocumentPath?) throws(StatusError) -> [CollectionPath]? {
        guard let collections, document.map({ document in !collections.contains { $0.covers(document.collection) } }) ?? true
        else {
            return nil
        }
        let usable = collections.filter { $0.parent == document }
        if let document, usable.isEmpty { try check(document) }
        return usable.sorted()
    }

    /// Makes sure that the caller may use everything that a query looks at.
    package func check(_ source: Query.Source) throws(StatusError) {
        switch source {
        case .collection(let collection): try check(collection)
        case .collectionGroup(_, let parent), .descendants(let parent): try checkAll(below: parent)
        }
    }

    /// Makes sure that the caller may use everything that a query finds: that is also so where it looks everywhere, but for names
    /// in a collection of the caller's only.
    func check(_ query: NormalizedQuery) throws(StatusError) {
        if let collections, case .descendants = query.source, query.filter.findsOnly(below: collections) { return }
        try check(query.source)
    }

    private func check(_ collection: CollectionPath, path: String) throws(StatusError) {
        guard let collections, !collections.contains(where: { $0.covers(collection) }) else { return }
        throw StatusError(
            .permissionDenied,
            "The key is for \(Self.list(collections)) only, not for \(Excerpt(path)). Use a key for that.",
            path: path
        )
    }

    private static func list(_ collections: [CollectionPath]) -> String {
        let names = collections.prefix(3).map { Excerpt($0.string).description }.joined(separator: ", ")
        return (collections.count == 1 ? "the collection " : "the collections ") + names + (collections.count > 3 ? ", …" : "")
    }
}

extension CollectionPath {
    /// Whether a collection is this one, or below one of its documents.
    func covers(_ other: CollectionPath) -> Bool {
        let (own, other) = (string.utf8, other.string.utf8)
        guard other.starts(with: own) else { return false }
        let next = other.dropFirst(own.count).first
        return next == nil || next == UInt8(ascii: "/")
    }
}

extension Caller {
    /// The ID of the caller's key; nil when it has none.
    package var keyID: UTF8Key? { identity.keyID }
}
