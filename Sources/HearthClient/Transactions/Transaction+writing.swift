internal import DocumentModel

extension Transaction {
    /// Creates or replaces a document.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> Transaction {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data)) }
    }

    /// Creates or replaces a document; with `merge`, keeps existing fields that are not given.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> Transaction {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data), merge: merge ? .all : .none) }
    }

    /// Sets only the fields in `mergeFields`, each a `String` or ``FieldPath``.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]) -> Transaction {
        add(to: document) { () throws(StatusError) in
            try .set(document, DocumentData(data), merge: .fields(any: mergeFields))
        }
    }

    /// Updates fields of a document, which must exist. The keys are field paths: dotted `String`s or ``FieldPath``s.
    ///
    /// The commit fails with ``FirestoreErrorCode/invalidArgument`` if the transaction has read that the document does not exist.
    @discardableResult
    public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> Transaction {
        add(to: document, isUpdate: true) { () throws(StatusError) in try .update(document, fields) }
    }

    /// Deletes a document, if it exists.
    @discardableResult
    public func deleteDocument(_ document: DocumentReference) -> Transaction {
        add(to: document) { () throws(StatusError) in .delete(document.documentPath) }
    }
}

extension Transaction {
    /// Encodes a value, and creates or replaces a document with it.
    ///
    /// - Throws: Errors of ``Firestore/Encoder``.
    @discardableResult
    public func setData<T: Encodable>(
        from value: T,
        forDocument document: DocumentReference,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> Transaction {
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
    ) throws -> Transaction {
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
    ) throws -> Transaction {
        let data = try encoder.documentData(value)
        return add(to: document) { () throws(StatusError) in try .set(document, data, merge: .fields(any: mergeFields)) }
    }
}
