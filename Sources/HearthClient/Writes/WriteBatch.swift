internal import DocumentModel
internal import Synchronization

/// A set of writes that is committed atomically.
public final class WriteBatch: Sendable {
    private let firestore: Firestore
    private let state = Mutex(State())

    private struct State {
        var writes = PendingWrites()
        var isCommitted = false
    }

    init(_ firestore: Firestore) {
        self.firestore = firestore
    }

    /// Creates or replaces a document.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> WriteBatch {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data)) }
    }

    /// Creates or replaces a document; with `merge`, keeps existing fields that are not given.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> WriteBatch {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data), merge: merge ? .all : .none) }
    }

    /// Sets only the fields in `mergeFields`, each a `String` or ``FieldPath``.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]) -> WriteBatch {
        add(to: document) { () throws(StatusError) in
            try .set(document, DocumentData(data), merge: .fields(any: mergeFields))
        }
    }

    /// Updates fields of a document, which must exist. The keys are field paths: dotted `String`s or ``FieldPath``s.
    @discardableResult
    public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> WriteBatch {
        add(to: document) { () throws(StatusError) in try .update(document, fields) }
    }

    /// Deletes a document, if it exists.
    @discardableResult
    public func deleteDocument(_ document: DocumentReference) -> WriteBatch {
        add(to: document) { () throws(StatusError) in .delete(document.documentPath) }
    }

    /// Commits the writes atomically. A batch can be committed once.
    nonisolated(nonsending) public func commit() async throws {
        let writes = try firestoreErrors(consumeWrites)
        try await firestore.commit(writes)
    }

    /// Queues the writes, which the server commits atomically, and returns as soon as they are in the queue.
    ///
    /// For programs that work without the server: ``commit()`` returns only when it has answered. Writes that it rejects are in
    /// ``Firestore/rejectedWrites``.
    ///
    /// In a persistent cache, the writes then survive a power cut. Without usable files the cache is in memory, as
    /// ``WriteQueueStatus/isPersistent`` tells, and they end with the process.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` without ``FirestoreSettings/cacheSettings``;
    ///   ``FirestoreErrorCode/resourceExhausted`` if the queue is full. Nothing is written then.
    nonisolated(nonsending) public func enqueue() async throws {
        let writes = try firestoreErrors(consumeWrites)
        try await firestore.queue(writes)
    }

    /// Commits the writes atomically and calls `completion`.
    public func commit(completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try consumeWrites(), completion)
    }

    private func add(to document: DocumentReference, _ write: () throws(StatusError) -> Write) -> WriteBatch {
        state.withLock { state in
            precondition(!state.isCommitted, "A write batch cannot be used after it has been committed.")
            state.writes.add { () throws(StatusError) in
                try firestore.checkReferences(to: [document.firestore])
                return try write()
            }
        }
        return self
    }

    private func consumeWrites() throws(StatusError) -> [Write] {
        try state.withLock { state throws(StatusError) in
            precondition(!state.isCommitted, "A write batch cannot be used after it has been committed.")
            state.isCommitted = true
            return try state.writes.get()
        }
    }
}

extension WriteBatch {
    /// Encodes a value, and creates or replaces a document with it.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``.
    @discardableResult
    public func setData<T: Encodable>(
        from value: T,
        forDocument document: DocumentReference,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> WriteBatch {
        let data = try encoder.documentData(value)
        return add(to: document) { () throws(StatusError) in try .set(document, data) }
    }

    /// Encodes a value, and creates or replaces a document; with `merge`, keeps existing fields that are not encoded.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``.
    @discardableResult
    public func setData<T: Encodable>(
        from value: T,
        forDocument document: DocumentReference,
        merge: Bool,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> WriteBatch {
        let data = try encoder.documentData(value)
        return add(to: document) { () throws(StatusError) in try .set(document, data, merge: merge ? .all : .none) }
    }

    /// Encodes a value and sets only the fields in `mergeFields`, each a `String` or ``FieldPath``.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``.
    @discardableResult
    public func setData<T: Encodable>(
        from value: T,
        forDocument document: DocumentReference,
        mergeFields: [Any],
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> WriteBatch {
        let data = try encoder.documentData(value)
        return add(to: document) { () throws(StatusError) in try .set(document, data, merge: .fields(any: mergeFields)) }
    }
}

extension Firestore {
    /// Returns a write batch, which commits several writes atomically.
    public func batch() -> WriteBatch {
        WriteBatch(self)
    }
}
