internal import DocumentModel

extension Query {
    /// Runs the query. All documents are read as of one point in time.
    @discardableResult
    nonisolated(nonsending) public func getDocuments() async throws -> QuerySnapshot {
        try await getDocuments(source: .default)
    }

    /// Runs the query on a source.
    ///
    /// With a local cache and without the server, the result is that of the cache, which may be empty:
    /// ``SnapshotMetadata/isFromCache`` tells.
    ///
    /// - Throws: A ``FirestoreError``: ``FirestoreErrorCode/invalidArgument`` if the query is invalid.
    @discardableResult
    nonisolated(nonsending) public func getDocuments(source: FirestoreSource) async throws -> QuerySnapshot {
        let (query, normalized) = try firestoreErrors(checked)
        // A search for nearest neighbors has no local result.
        if let session = try firestore.session(), query.vectorSearch == nil || source == .cache {
            do throws(StatusError) {
                let result = try await session.result(of: query, normalized, from: source)
                return QuerySnapshotBuilder(self).snapshot(result)
            } catch {
                throw FirestoreError(error)
            }
        }
        try source.check()
        try await firestore.checkNetwork()
        let result = try await firestore.read { connection throws(StatusError) in
            try await connection.documents(of: query, normalized)
        }
        var documents: [QueryDocumentSnapshot] = []
        var damaged = result.damaged
        for encoded in result.documents {
            do {
                documents.append(QueryDocumentSnapshot(try encoded.decoded(), in: firestore))
            } catch {
                damaged.append(error)
            }
        }
        return QuerySnapshot(self, documents, changes: .added(documents), damaged: damaged.map(FirestoreError.init))
    }

    /// Runs the query and calls `completion`.
    public func getDocuments(completion: @escaping (QuerySnapshot?, (any Error)?) -> Void) {
        getDocuments(source: .default, completion: completion)
    }

    /// Runs the query on a source and calls `completion`.
    public func getDocuments(source: FirestoreSource, completion: @escaping (QuerySnapshot?, (any Error)?) -> Void) {
        firestore.callBack(completion) { try await self.getDocuments(source: source) }
    }
}
