internal import DocumentModel

extension DocumentReference {
    /// Sets the document's data, replacing what there is.
    nonisolated(nonsending) public func setData(_ documentData: [String: Any]) async throws {
        try await commit { () throws(StatusError) in try .set(self, DocumentData(documentData)) }
    }

    /// Sets the document's data; with `merge`, fields that are not given stay as they are.
    nonisolated(nonsending) public func setData(_ documentData: [String: Any], merge: Bool) async throws {
        try await commit { () throws(StatusError) in
            try .set(self, DocumentData(documentData), merge: merge ? .all : .none)
        }
    }

    /// Sets those fields of the document that are named by a `String` or ``FieldPath`` each.
    nonisolated(nonsending) public func setData(_ documentData: [String: Any], mergeFields: [Any]) async throws {
        try await commit { () throws(StatusError) in
            try .set(self, DocumentData(documentData), merge: .fields(any: mergeFields))
        }
    }

    /// Changes fields of the document. The keys are paths: a `String` with dots between the names, or a ``FieldPath``.
    ///
    /// - Throws: ``FirestoreErrorCode/notFound`` when the document doesn't exist.
    nonisolated(nonsending) public func updateData(_ fields: [AnyHashable: Any]) async throws {
        try await commit { () throws(StatusError) in try .update(self, fields) }
    }

    /// Deletes the document; one that doesn't exist is no error. Documents below it stay.
    nonisolated(nonsending) public func delete() async throws {
        try await firestore.commit([.delete(documentPath)])
    }

    nonisolated(nonsending) private func commit(_ write: () throws(StatusError) -> Write) async throws {
        let write = try firestoreErrors(write)
        try await firestore.commit([write])
    }
}

extension DocumentReference {
    /// Sets the document's data, replacing what there is, and calls back.
    public func setData(_ documentData: [String: Any], completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.set(self, DocumentData(documentData))], completion)
    }

    /// Sets the document's data, and calls back; with `merge`, fields that are not given stay as they are.
    public func setData(_ documentData: [String: Any], merge: Bool, completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.set(self, DocumentData(documentData), merge: merge ? .all : .none)], completion)
    }

    /// Sets those fields of the document that are named by a `String` or ``FieldPath`` each, and calls back.
    public func setData(_ documentData: [String: Any], mergeFields: [Any], completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.set(self, DocumentData(documentData), merge: .fields(any: mergeFields))], completion)
    }

    /// Changes fields of the document, and calls back. The keys are paths: a `String` with dots, or a ``FieldPath``.
    public func updateData(_ fields: [AnyHashable: Any], completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue(try [.update(self, fields)], completion)
    }

    /// Deletes the document, and calls back.
    public func delete(completion: (((any Error)?) -> Void)? = nil) {
        firestore.enqueue([.delete(documentPath)], completion)
    }
}

extension DocumentReference {
    /// Encodes a value and sets the document's data to it, replacing what there is.
    ///
    /// It returns once the value is encoded, and the document is written in the background: `completion` is told how that went.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws; nothing is written then.
    public func setData<T: Encodable>(
        from value: T,
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws {
        let data = try encoder.documentData(value)
        firestore.enqueue(try [.set(self, data)], completion)
    }

    /// Encodes a value and sets the document's data; with `merge`, fields that are not encoded stay as they are.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws; nothing is written then.
    public func setData<T: Encodable>(
        from value: T,
        merge: Bool,
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws {
        let data = try encoder.documentData(value)
        firestore.enqueue(try [.set(self, data, merge: merge ? .all : .none)], completion)
    }

    /// Encodes a value and sets those fields that are named by a `String` or ``FieldPath`` each.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws; nothing is written then.
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

/// Runs what throws the model's errors, and makes them Firestore's.
func firestoreErrors<Result>(_ body: () throws(StatusError) -> Result) throws(FirestoreError) -> Result {
    do {
        return try body()
    } catch {
        throw FirestoreError(error)
    }
}
