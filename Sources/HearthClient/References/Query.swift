internal import DocumentModel

// Sendable: all properties, including those of the only subclass, are immutable.
/// A query for documents, which can be run and listened to.
///
/// A query is immutable: its methods return a new query. An error in it, such as an invalid field path, is reported as
/// ``FirestoreErrorCode/invalidArgument`` when the query is run.
public class Query: @unchecked Sendable {
    /// The database.
    public let firestore: Firestore
    /// The definition of the query, or the first error in it.
    let definition: Result<StructuredQuery, StatusError>

    init(_ definition: Result<StructuredQuery, StatusError>, in firestore: Firestore) {
        self.firestore = firestore
        self.definition = definition
    }

    /// Returns a query with a change applied, or with the same error.
    func changed(_ change: (inout StructuredQuery) throws(StatusError) -> Void) -> Query {
        let changed = definition.flatMap { definition in
            Result { () throws(StatusError) in
                var definition = definition
                try change(&definition)
                return definition
            }
        }
        return Query(changed, in: firestore)
    }

    /// Returns the validated definition of the query.
    func checked() throws(StatusError) -> (query: StructuredQuery, normalized: NormalizedQuery) {
        let query = try definition.get()
        return (query, try NormalizedQuery(query))
    }
}

extension Query: Hashable {
    /// Returns whether two queries have the same definition and database.
    public static func == (left: Query, right: Query) -> Bool {
        guard left.firestore === right.firestore else { return false }
        return switch (left.definition, right.definition) {
        case (.success(let left), .success(let right)): left == right
        case (.failure(let left), .failure(let right)): left.message.utf8.elementsEqual(right.message.utf8)
        default: false
        }
    }

    /// Returns whether an object is a query with the same definition and database.
    public func isEqual(_ object: Any?) -> Bool {
        object as? Query == self
    }

    /// Hashes the components compared by `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(try? definition.get())
    }
}
