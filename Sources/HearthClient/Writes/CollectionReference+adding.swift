extension CollectionReference {
    /// Adds a document with a generated ID.
    @discardableResult
    nonisolated(nonsending) public func addDocument(data: [String: Any]) async throws -> DocumentReference {
        let document = document()
        try await document.setData(data)
        return document
    }

    /// Adds a document with a generated ID and calls `completion` when it has been written.
    @discardableResult
    public func addDocument(data: [String: Any], completion: (((any Error)?) -> Void)? = nil) -> DocumentReference {
        let document = document()
        document.setData(data, completion: completion)
        return document
    }

    /// Encodes a value and adds it as a document with a generated ID.
    ///
    /// Returns after encoding; the write is queued, and `completion` is called with its outcome.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``; then nothing is written.
    @discardableResult
    public func addDocument<T: Encodable>(
        from value: T,
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws -> DocumentReference {
        let document = document()
        try document.setData(from: value, encoder: encoder, completion: completion)
        return document
    }
}
