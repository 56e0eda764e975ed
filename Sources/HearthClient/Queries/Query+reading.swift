internal import DocumentModel

extension Query {
    /// Reads the result, all of it as it was at one time.
    nonisolated(nonsending) public func getDocuments() async throws -> QuerySnapshot {
        try await getDocuments(source: .default)
    }

    /// Reads the result from a source.
    ///
    /// - Throws: A ``FirestoreError``: ``FirestoreErrorCode/invalidArgument`` for a mistake in the query.
    nonisolated(nonsending) public func getDocuments(source: FirestoreSource) async throws -> QuerySnapshot {
        try source.check()
        let (query, normalized) = try firestoreErrors(checked)
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

    /// Reads the result, and calls back.
    public func getDocuments(completion: @escaping (QuerySnapshot?, (any Error)?) -> Void) {
        getDocuments(source: .default, completion: completion)
    }

    /// Reads the result from a source, and calls back.
    public func getDocuments(source: FirestoreSource, completion: @escaping (QuerySnapshot?, (any Error)?) -> Void) {
        firestore.callBack(completion) { try await self.getDocuments(source: source) }
    }
}
