internal import DocumentModel

extension Firestore {
    /// A collection, such as `books` or `books/hitchhiker/reviews`.
    ///
    /// A path that breaks the rules is a mistake in the program and ends it.
    public func collection(_ collectionPath: String) -> CollectionReference {
        CollectionReference(.trapping { () throws(StatusError) in try CollectionPath(collectionPath) }, in: self)
    }

    /// A document, such as `books/hitchhiker`; it need not exist.
    ///
    /// A path that breaks the rules is a mistake in the program and ends it.
    public func document(_ documentPath: String) -> DocumentReference {
        DocumentReference(.trapping { () throws(StatusError) in try DocumentPath(documentPath) }, in: self)
    }

    /// A query for all documents in collections of an id, wherever they are.
    ///
    /// An id that breaks the rules is told when the query is run.
    public func collectionGroup(_ collectionID: String) -> Query {
        let definition = Result { () throws(StatusError) in
            DocumentModel.Query(.collectionGroup(try CollectionID(collectionID), below: nil))
        }
        return Query(definition, in: self)
    }

    /// Begins to collect writes that happen together or not at all.
    public func batch() -> WriteBatch {
        WriteBatch(self)
    }
}

extension CollectionPath {
    /// For paths that the program states.
    static func trapping(_ make: () throws(StatusError) -> CollectionPath) -> CollectionPath {
        do {
            return try make()
        } catch {
            preconditionFailure("Invalid collection reference: \(error)")
        }
    }
}

extension DocumentPath {
    /// For paths that the program states.
    static func trapping(_ make: () throws(StatusError) -> DocumentPath) -> DocumentPath {
        do {
            return try make()
        } catch {
            preconditionFailure("Invalid document reference: \(error)")
        }
    }
}
