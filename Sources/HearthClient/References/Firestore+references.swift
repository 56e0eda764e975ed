internal import DocumentModel

extension Firestore {
    /// Returns a reference to a collection, such as `books` or `books/hitchhiker/reviews`.
    ///
    /// - Precondition: The path is valid.
    public func collection(_ collectionPath: String) -> CollectionReference {
        CollectionReference(.trapping { () throws(StatusError) in try CollectionPath(collectionPath) }, in: self)
    }

    /// Returns a reference to a document, such as `books/hitchhiker`. The document need not exist.
    ///
    /// - Precondition: The path is valid.
    public func document(_ documentPath: String) -> DocumentReference {
        DocumentReference(.trapping { () throws(StatusError) in try DocumentPath(documentPath) }, in: self)
    }

    /// Returns a query for a collection group: the documents of all collections with a given ID.
    ///
    /// An invalid ID is reported when the query is run.
    public func collectionGroup(_ collectionID: String) -> Query {
        let definition = Result { () throws(StatusError) in
            StructuredQuery(.collectionGroup(try CollectionID(collectionID), below: nil))
        }
        return Query(definition, in: self)
    }
}

extension CollectionPath {
    /// Creates a path; traps if it is invalid.
    static func trapping(_ make: () throws(StatusError) -> CollectionPath) -> CollectionPath {
        do {
            return try make()
        } catch {
            preconditionFailure("Invalid collection reference: \(error)")
        }
    }
}

extension DocumentPath {
    /// Creates a path; traps if it is invalid.
    static func trapping(_ make: () throws(StatusError) -> DocumentPath) -> DocumentPath {
        do {
            return try make()
        } catch {
            preconditionFailure("Invalid document reference: \(error)")
        }
    }
}

extension Firestore {
    /// Throws an error if references belong to another database.
    ///
    /// - Parameter databases: The databases of the references.
    func checkReferences(to databases: [Firestore]) throws(StatusError) {
        for database in databases where database !== self {
            let (own, other) = (displayName, database.displayName)
            guard own != other else { continue }
            throw StatusError(
                .invalidArgument,
                "The document reference is for the database at \(other) but should be for the database at \(own)."
            )
        }
    }
}

extension [Firestore] {
    /// Adds the elements that the array doesn't contain, compared by identity.
    mutating func formUnion(_ others: [Firestore]) {
        for other in others where !contains(where: { $0 === other }) { append(other) }
    }
}
