internal import DocumentModel

extension DocumentReference {
    /// Reads the document. One that does not exist is no error: its snapshot says so.
    ///
    /// Many reads at the same time share requests, so that documents need not be collected to be read quickly.
    nonisolated(nonsending) public func getDocument() async throws -> DocumentSnapshot {
        try await getDocument(source: .default)
    }

    /// Reads the document from a source.
    nonisolated(nonsending) public func getDocument(source: FirestoreSource) async throws -> DocumentSnapshot {
        try source.check()
        let path = documentPath
        let document = try await firestore.read { connection throws(StatusError) in
            try await connection.existingDocument(at: path)
        }
        return DocumentSnapshot(document, of: self)
    }

    /// Reads the document, and calls back.
    public func getDocument(completion: @escaping (DocumentSnapshot?, (any Error)?) -> Void) {
        getDocument(source: .default, completion: completion)
    }

    /// Reads the document from a source, and calls back.
    public func getDocument(source: FirestoreSource, completion: @escaping (DocumentSnapshot?, (any Error)?) -> Void) {
        firestore.callBack(completion) { try await self.getDocument(source: source) }
    }

    /// Reads the document and decodes it.
    ///
    /// - Throws: `DecodingError` with the coding path of what does not fit, and the document's path in its description; for a
    ///   document that does not exist `valueNotFound`, unless `type` is an optional, which is nil then. A ``FirestoreError``
    ///   when the document can't be read.
    nonisolated(nonsending) public func getDocument<T: Decodable>(
        as type: T.Type,
        with serverTimestampBehavior: ServerTimestampBehavior = .none,
        decoder: Firestore.Decoder = .init(),
        source: FirestoreSource = .default
    ) async throws -> T {
        try await getDocument(source: source).data(as: type, with: serverTimestampBehavior, decoder: decoder)
    }

    /// Reads the document, decodes it, and calls back.
    public func getDocument<T: Decodable>(
        as type: T.Type,
        with serverTimestampBehavior: ServerTimestampBehavior = .none,
        decoder: Firestore.Decoder = .init(),
        source: FirestoreSource = .default,
        completion: @escaping (Result<T, any Error>) -> Void
    ) {
        getDocument(source: source) { snapshot, error in
            completion(
                Result {
                    guard let snapshot else { throw error ?? FirestoreErrorCode(.unknown) }
                    return try snapshot.data(as: type, with: serverTimestampBehavior, decoder: decoder)
                }
            )
        }
    }
}
