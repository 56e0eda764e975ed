internal import DocumentModel
internal import SyncEngine

extension DocumentReference {
    /// Reads the document. The snapshot of a document that doesn't exist has `exists` set to `false`.
    ///
    /// Concurrent reads are combined into batch requests.
    @discardableResult
    nonisolated(nonsending) public func getDocument() async throws -> DocumentSnapshot {
        try await getDocument(source: .default)
    }

    /// Reads the document from a source.
    ///
    /// - Throws: With a local cache, ``FirestoreErrorCode/unavailable`` if the document has to be read from the server, and that cannot be
    ///   reached.
    @discardableResult
    nonisolated(nonsending) public func getDocument(source: FirestoreSource) async throws -> DocumentSnapshot {
        let path = documentPath
        if let session = try firestore.session() {
            do throws(StatusError) {
                let read = try await session.document(at: path, from: source)
                let hasPendingWrites = read.document?.hasLocalMutations == true
                let metadata = SnapshotMetadata(hasPendingWrites: hasPendingWrites, isFromCache: read.isFromCache)
                return DocumentSnapshot(read.document, of: self, metadata)
            } catch {
                throw FirestoreError(error)
            }
        }
        try source.check()
        let document = try await firestore.read { connection throws(StatusError) in
            try await connection.existingDocument(at: path)
        }
        return DocumentSnapshot(document, of: self)
    }

    /// Reads the document and calls `completion`.
    public func getDocument(completion: @escaping (DocumentSnapshot?, (any Error)?) -> Void) {
        getDocument(source: .default, completion: completion)
    }

    /// Reads the document from a source and calls `completion`.
    public func getDocument(source: FirestoreSource, completion: @escaping (DocumentSnapshot?, (any Error)?) -> Void) {
        firestore.callBack(completion) { try await self.getDocument(source: source) }
    }

    /// Reads the document and decodes it.
    ///
    /// - Throws: A `DecodingError` with the coding path of the mismatch, and the document path in its description: `valueNotFound`
    ///   if the document doesn't exist, unless `type` is an optional. A ``FirestoreError`` if the document cannot be read.
    nonisolated(nonsending) public func getDocument<T: Decodable>(
        as type: T.Type,
        with serverTimestampBehavior: ServerTimestampBehavior = .none,
        decoder: Firestore.Decoder = .init(),
        source: FirestoreSource = .default
    ) async throws -> T {
        try await getDocument(source: source).data(as: type, with: serverTimestampBehavior, decoder: decoder)
    }

    /// Reads the document, decodes it and calls `completion`.
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
