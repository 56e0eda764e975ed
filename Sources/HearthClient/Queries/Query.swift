internal import DocumentModel

// All properties are constant, and the one class below this one adds none that isn't.
/// A question for documents; what reads its result and listens to it.
///
/// A query is never changed: each of its calls makes another one. A mistake in it, such as a field path that is none, is told
/// when the query is run, as ``FirestoreErrorCode/invalidArgument``.
public class Query: @unchecked Sendable {
    /// The database.
    public let firestore: Firestore
    /// What is asked, or the first mistake that was made in asking.
    let definition: Result<DocumentModel.Query, StatusError>

    init(_ definition: Result<DocumentModel.Query, StatusError>, in firestore: Firestore) {
        self.firestore = firestore
        self.definition = definition
    }

    /// The query with a change made to it; a mistake that was made before stays.
    func changed(_ change: (inout DocumentModel.Query) throws(StatusError) -> Void) -> Query {
        let changed = definition.flatMap { definition in
            Result { () throws(StatusError) in
                var definition = definition
                try change(&definition)
                return definition
            }
        }
        return Query(changed, in: firestore)
    }

    /// What is asked, checked by the rules for queries.
    func checked() throws(StatusError) -> (query: DocumentModel.Query, normalized: NormalizedQuery) {
        let query = try definition.get()
        return (query, try NormalizedQuery(query))
    }
}

extension Query: Hashable {
    /// Whether both ask the same of the same database.
    public static func == (left: Query, right: Query) -> Bool {
        guard left.firestore === right.firestore else { return false }
        return switch (left.definition, right.definition) {
        case (.success(let left), .success(let right)): left == right
        case (.failure(let left), .failure(let right)): left.message.utf8.elementsEqual(right.message.utf8)
        default: false
        }
    }

    /// Whether an object is a query that asks the same of the same database.
    public func isEqual(_ object: Any?) -> Bool {
        object as? Query == self
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(try? definition.get())
    }
}

extension DocumentModel.Query {
    /// The collection that all documents are wanted of; nil for any other query.
    var wholeCollection: CollectionPath? {
        guard case .collection(let collection) = source, self == DocumentModel.Query(source) else { return nil }
        return collection
    }
}
