internal import DocumentModel

extension Transaction {
    /// Sets a document's data, replacing what there is.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> Transaction {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data)) }
    }

    /// Sets a document's data; with `merge`, fields that are not given stay as they are.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> Transaction {
        add(to: document) { () throws(StatusError) in try .set(document, DocumentData(data), merge: merge ? .all : .none) }
    }

    /// Sets those fields of a document that are named by a `String` or ``FieldPath`` each.
    @discardableResult
    public func setData(_ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]) -> Transaction {
        add(to: document) { () throws(StatusError) in
            try .set(document, DocumentData(data), merge: .fields(any: mergeFields))
        }
    }

    /// Changes fields of a document that has to exist. The keys are paths: a `String` with dots, or a ``FieldPath``.
    @discardableResult
    public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> Transaction {
        add(to: document) { () throws(StatusError) in try .update(document, fields) }
    }

    /// Deletes a document; one that doesn't exist is no error.
    @discardableResult
    public func deleteDocument(_ document: DocumentReference) -> Transaction {
        add(to: document) { () throws(StatusError) in .delete(document.documentPath) }
    }
}

extension Transaction {
    /// Encodes a value and sets a document's data to it, replacing what there is.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws.
    @discardableResult
    public func setData<T: Encodable>(
        from value: T,
        forDocument document: DocumentReference,
        encoder: Firestore.Encoder = Firestore.Encoder()
    ) throws -> Transaction {
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
    ) throws -> Transaction {
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
    ) throws -> Transaction {
        let data = try encoder.documentData(value)
        return add(to: document) { () throws(StatusError) in try .set(document, data, merge: .fields(any: mergeFields)) }
    }
}
