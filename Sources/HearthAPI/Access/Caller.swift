package import DocumentModel
package import UTF8Text

/// The identity and the access rights of a caller.
package struct Caller: Hashable, Sendable {
    /// The identity that a caller was authenticated as.
    package enum Identity: Hashable, Sendable {
        /// The server process itself.
        case system
        /// A caller that has presented no key although keys are required.
        case unauthenticated
        /// Any caller while no keys are required.
        case openAccess
        /// The holder of the key with this ID.
        case key(UTF8Key)
        /// The owner of a server in emulator mode: anyone on the machine who claims to be.
        case emulatorOwner
        /// An end user; `nil` for nobody signed in.
        case endUser(EndUser.ID?)

        /// True if rules decide about all that the caller may do.
        var isEndUser: Bool {
            if case .endUser = self { true } else { false }
        }

        /// The ID of the key, or `nil` for callers without a key.
        package var keyID: UTF8Key? {
            if case .key(let id) = self { id } else { nil }
        }
    }

    package let identity: Identity
    package let role: Role
    /// The collections that the caller has access to, with their subcollections; `nil` for the whole database.
    package let collections: [CollectionPath]?
    /// The signed-in end user; `nil` for all other callers.
    package let user: EndUser?

    /// The server process itself, with full access.
    package static let system = Caller(.system, role: .admin)
    /// Any caller of a server that requires no keys. It has full access, except that it cannot create the first key: that is
    /// reserved for the owner of the data folder.
    package static let openAccess = Caller(.openAccess, role: .admin)
    /// A caller without the required key. It has access to no collection, and every method rejects it.
    package static let unauthenticated = Caller(.unauthenticated, role: .reader, collections: [])

    /// The owner of a server in emulator mode, with full access.
    package static let emulatorOwner = Caller(.emulatorOwner, role: .admin)
    /// An end user who is not signed in. Rules decide about all that it may do.
    package static let anonymous = Caller(.endUser(nil), role: .reader)

    private init(_ identity: Identity, role: Role, collections: [CollectionPath]? = nil, user: EndUser? = nil) {
        self.identity = identity
        self.role = role
        self.collections = collections
        self.user = user
    }

    init(_ key: APIKey) {
        self.init(.key(key.id), role: key.role, collections: key.collections)
    }

    /// Creates a signed-in end user. Rules decide about all that it may do.
    package init(_ user: EndUser) {
        self.init(.endUser(user.id), role: .reader, user: user)
    }

    /// True if rules decide about all that the caller may do.
    package var isEndUser: Bool { identity.isEndUser }
}

extension Caller {
    /// Requires access to a collection.
    ///
    /// - Throws: ``StatusCode/permissionDenied``, whether or not the collection exists.
    package func requireAccess(to collection: CollectionPath) throws(StatusError) {
        try requireAccess(to: collection, path: collection.string)
    }

    /// Requires access to a document and its subcollections.
    package func requireAccess(to document: DocumentPath) throws(StatusError) {
        try requireAccess(to: document.collection, path: document.string)
    }

    /// Requires access to the whole database.
    package func requireAccessToDatabase() throws(StatusError) {
        guard let collections else { return }
        throw StatusError(
            .permissionDenied,
            "The key is restricted to \(Self.list(collections)), but the call requires access to the whole database. "
                + "Specify a parent document in these collections, or use an unrestricted key."
        )
    }

    /// Returns the accessible collections directly below a document, or below the root for `nil`.
    ///
    /// - Returns: `nil` if all collections there are accessible.
    /// - Throws: ``StatusCode/permissionDenied`` if no collection below the document is accessible.
    func accessibleCollections(below document: DocumentPath?) throws(StatusError) -> [CollectionPath]? {
        guard let collections, document.map({ document in !collections.contains { $0.covers(document.collection) } }) ?? true
        else {
            return nil
        }
        let accessible = collections.filter { $0.parent == document }
        if let document, accessible.isEmpty { try requireAccess(to: document) }
        return accessible.sorted()
    }

    /// Requires access to all collections that a query reads.
    package func requireAccess(to source: StructuredQuery.Source) throws(StatusError) {
        switch source {
        case .collection(let collection): try requireAccess(to: collection)
        case .collectionGroup(_, let parent?), .descendants(let parent?): try requireAccess(to: parent)
        case .collectionGroup(_, nil), .descendants(nil): try requireAccessToDatabase()
        }
    }

    /// Requires access to all documents that a query can match. A query over the whole database passes if its filter on the
    /// document name restricts it to collections of the caller.
    func requireAccess(to query: NormalizedQuery) throws(StatusError) {
        if let collections, case .descendants = query.source, query.filter.matchesOnlyDescendants(of: collections) { return }
        try requireAccess(to: query.source)
    }

    private func requireAccess(to collection: CollectionPath, path: String) throws(StatusError) {
        guard let collections, !collections.contains(where: { $0.covers(collection) }) else { return }
        throw StatusError(
            .permissionDenied,
            "The key is restricted to \(Self.list(collections)) and does not give access to \(Excerpt(path)). Use a key that does.",
            path: path
        )
    }

    private static func list(_ collections: [CollectionPath]) -> String {
        let names = collections.prefix(3).map { Excerpt($0.string).description }.joined(separator: ", ")
        return (collections.count == 1 ? "the collection " : "the collections ") + names + (collections.count > 3 ? ", …" : "")
    }
}

extension CollectionPath {
    /// Returns whether a collection is this one or a subcollection below one of its documents.
    func covers(_ other: CollectionPath) -> Bool {
        let (own, other) = (string.utf8, other.string.utf8)
        guard other.starts(with: own) else { return false }
        let next = other.dropFirst(own.count).first
        return next == nil || next == UInt8(ascii: "/")
    }
}

extension Caller {
    /// The ID of the caller's key, or `nil` if it has none.
    package var keyID: UTF8Key? { identity.keyID }

    /// The name under which the streams of a key or of a signed-in user are counted; `nil` for callers without either.
    package var quotaKey: UTF8Key? {
        switch identity {
        case .key(let id): id
        case .endUser(let user?): UTF8Key("\(user.issuer.string)\n\(user.uid.string)")
        case .system, .unauthenticated, .openAccess, .emulatorOwner, .endUser(nil): nil
        }
    }

    /// The reason for the end of a stream whose caller has become invalid.
    package var endOfAccess: OutgoingWatchFrame.EndReason { user == nil ? .revoked : .unauthenticated }
}
