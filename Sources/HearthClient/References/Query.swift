internal import DocumentModel

// All properties are constant, and the one class below this one adds none.
/// A question for documents; what reads its result and listens to it.
public class Query: @unchecked Sendable {
    /// The database.
    public let firestore: Firestore
    /// Where the documents are.
    let collection: CollectionPath

    init(_ collection: CollectionPath, in firestore: Firestore) {
        self.firestore = firestore
        self.collection = collection
    }
}

extension Query: Hashable {
    /// Whether both ask the same of the same database.
    public static func == (left: Query, right: Query) -> Bool {
        left.firestore === right.firestore && left.collection == right.collection
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(collection)
    }
}

extension Query {
    /// Reads the result, all of it as it was at one time.
    nonisolated(nonsending) public func getDocuments() async throws -> QuerySnapshot {
        try await getDocuments(source: .default)
    }

    /// Reads the result from a source.
    nonisolated(nonsending) public func getDocuments(source: FirestoreSource) async throws -> QuerySnapshot {
        try source.check()
        let collection = collection
        let pages = try await firestore.read { connection throws(StatusError) in
            try await connection.allDocuments(in: collection)
        }
        var result = QueryResult(firestore)
        var damaged = pages.flatMap(\.damaged)
        var changes: [DocumentPath: Document?] = [:]
        for case .document(let encoded) in pages.flatMap(\.documents) {
            do {
                changes[encoded.path] = try encoded.decoded()
            } catch {
                damaged.append(error)
            }
        }
        let documentChanges = result.apply(changes)
        return QuerySnapshot(self, result.documents, changes: documentChanges, damaged: damaged.map(FirestoreError.init))
    }

    /// Reads the result, and calls back.
    public func getDocuments(completion: @escaping (QuerySnapshot?, (any Error)?) -> Void) {
        getDocuments(source: .default, completion: completion)
    }

    /// Reads the result from a source, and calls back.
    public func getDocuments(source: FirestoreSource, completion: @escaping (QuerySnapshot?, (any Error)?) -> Void) {
        firestore.callBack(completion) { try await self.getDocuments(source: source) }
    }
}
