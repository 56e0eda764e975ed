internal import DocumentModel

extension DocumentReference {
    /// Creates or replaces the document.
    nonisolated(nonsending) public func setData(_ documentData: [String: Any]) async throws {
        try await commit { () throws(StatusError) in try .set(self, DocumentData(documentData)) }
    }

    /// Creates or replaces the document; with `merge`, keeps existing fields that are not given.
    nonisolated(nonsending) public func setData(_ documentData: [String: Any], merge: Bool) async throws {
        try await commit { () throws(StatusError) in
            try .set(self, DocumentData(documentData), merge: merge ? .all : .none)
        }
    }

    /// Sets only the fields in `mergeFields`, each a `String` or ``FieldPath``.
    nonisolated(nonsending) public func setData(_ documentData: [String: Any], mergeFields: [Any]) async throws {
        try await commit { () throws(StatusError) in
            try .set(self, DocumentData(documentData), merge: .fields(any: mergeFields))
        }
    }

    /// Updates fields of the document. The keys are field paths: dotted `String`s or ``FieldPath``s.
    ///
    /// - Throws: ``FirestoreErrorCode/notFound`` if the document doesn't exist.
    nonisolated(nonsending) public func updateData(_ fields: [AnyHashable: Any]) async throws {
        try await commit { () throws(StatusError) in try .update(self, fields) }
    }

    /// Deletes the document, if it exists. Documents in its subcollections are kept.
    nonisolated(nonsending) public func delete() async throws {
        try await firestore.commit([.delete(documentPath)])
    }

    nonisolated(nonsending) private func commit(_ write: () throws(StatusError) -> Write) async throws {
        let write = try firestoreErrors(write)
        try await firestore.commit([write])
    }
}

extension DocumentReference {
    /// Creates or replaces the document and calls `completion`.
    public func setData(_ documentData: [String: Any], completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.set(self, DocumentData(documentData))], completion)
    }

    /// Creates or replaces the document and calls `completion`; with `merge`, keeps existing fields that are not given.
    public func setData(_ documentData: [String: Any], merge: Bool, completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.set(self, DocumentData(documentData), merge: merge ? .all : .none)], completion)
    }

    /// Sets only the fields in `mergeFields`, each a `String` or ``FieldPath``, and calls `completion`.
    public func setData(_ documentData: [String: Any], mergeFields: [Any], completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.set(self, DocumentData(documentData), merge: .fields(any: mergeFields))], completion)
    }

    /// Updates fields of the document and calls `completion`. The keys are field paths: dotted `String`s or ``FieldPath``s.
    public func updateData(_ fields: [AnyHashable: Any], completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.update(self, fields)], completion)
    }

    /// Deletes the document and calls `completion`.
    public func delete(completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue([.delete(documentPath)], completion)
    }
}

extension DocumentReference {
    /// Encodes a value, and creates or replaces the document with it.
    ///
    /// Returns after encoding; the write is queued, and `completion` is called with its outcome.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``; then nothing is written.
    public func setData<T: Encodable>(
        from value: T,
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws {
        let data = try encoder.documentData(value)
        firestore.enqueue(try [.set(self, data)], completion)
    }

    /// Encodes a value, and creates or replaces the document; with `merge`, keeps existing fields that are not encoded.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``; then nothing is written.
    public func setData<T: Encodable>(
        from value: T,
        merge: Bool,
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws {
        let data = try encoder.documentData(value)
        firestore.enqueue(try [.set(self, data, merge: merge ? .all : .none)], completion)
    }

    /// Encodes a value and sets only the fields in `mergeFields`, each a `String` or ``FieldPath``.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``; then nothing is written.
    public func setData<T: Encodable>(
        from value: T,
        mergeFields: [Any],
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws {
        let data = try encoder.documentData(value)
        firestore.enqueue(try [.set(self, data, merge: .fields(any: mergeFields))], completion)
    }
}
