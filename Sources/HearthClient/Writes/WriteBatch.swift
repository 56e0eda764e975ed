internal import DocumentModel
internal import Synchronization

/// Writes that are collected, and then happen together or not at all.
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

    /// Sets a document's data, replacing what there is.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> WriteBatch {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data)) }
    }

    /// Sets a document's data; with `merge`, fields that are not given stay as they are.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> WriteBatch {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data), merge: merge ? .all : .none) }
    }

    /// Sets those fields of a document that are named by a `String` or ``FieldPath`` each.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]) -> WriteBatch {
        add(to: document) { () throws(StatusError) in
            try .set(document, DocumentData(data), merge: .fields(any: mergeFields))
        }
    }

    /// Changes fields of a document that has to exist. The keys are paths: a `String` with dots, or a ``FieldPath``.
    @discardableResult
    public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> WriteBatch {
        add(to: document) { () throws(StatusError) in try .update(document, fields) }
    }

    /// Deletes a document; one that doesn't exist is no error.
    @discardableResult
    public func deleteDocument(_ document: DocumentReference) -> WriteBatch {
        add(to: document) { () throws(StatusError) in .delete(document.documentPath) }
    }

    /// Carries out the writes: all, or none when one of them can't be. A batch is committed once.
    nonisolated(nonsending) public func commit() async throws {
        let writes = try firestoreErrors(take)
        try await firestore.commit(writes)
    }

    /// Carries out the writes, and calls back.
    public func commit(completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try take(), completion)
    }

    private func add(to document: DocumentReference, _ write: () throws(StatusError) -> Write) -> WriteBatch {
        state.withLock { state in
            precondition(!state.isCommitted, "A write batch can no longer be used after it has been committed.")
            state.writes.add { () throws(StatusError) in
                try firestore.check([document.firestore])
                return try write()
            }
        }
        return self
    }

    private func take() throws(StatusError) -> [Write] {
        try state.withLock { state throws(StatusError) in
            precondition(!state.isCommitted, "A write batch can no longer be used after it has been committed.")
            state.isCommitted = true
            return try state.writes.get()
        }
    }
}

extension WriteBatch {
    /// Encodes a value and sets a document's data to it, replacing what there is.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws.
    @discardableResult
    public func setData<T: Encodable>(
        from value: T,
        forDocument document: DocumentReference,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> WriteBatch {
        let data = try encoder.documentData(value)
        return add(to: document) { () throws(StatusError) in try .set(document, data) }
    }

    /// Encodes a value and sets a document's data; with `merge`, fields that are not encoded stay as they are.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws.
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

    /// Encodes a value and sets those fields that are named by a `String` or ``FieldPath`` each.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws.
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
