internal import Dispatch
internal import DocumentModel
internal import HearthTransport
internal import Synchronization

/// A transaction, which commits its writes only if the documents it has read are unchanged.
///
/// All reads must precede the first write.
public final class Transaction: Sendable {
    private let firestore: Firestore
    /// The user for whom the transaction is run; `nil` without ID tokens.
    private let user: IDTokenCache.User?
    private let state = Mutex(State())

    private struct State {
        /// The transaction ID; `nil` before the first read.
        var id: String?
        var writes = PendingWrites()
        /// The documents that do not exist, as far as they have been read and not been written since.
        var missing: Set<DocumentPath> = []
    }

    init(_ firestore: Firestore) {
        self.firestore = firestore
        user = firestore.user
    }

    /// Reads a document as of the read time of the transaction.
    ///
    /// - Throws: A ``FirestoreError``. The closure must rethrow it, since the transaction may have to be retried.
    nonisolated(nonsending) public func getDocument(_ document: DocumentReference) async throws -> DocumentSnapshot {
        try firestoreErrors { () throws(StatusError) in
            try firestore.checkReferences(to: [document.firestore])
            try state.withLock { state throws(StatusError) in
                guard state.writes.isEmpty else {
                    throw StatusError(
                        .invalidArgument,
                        "Firestore transactions require all reads to be executed before all writes.",
                        path: document.path
                    )
                }
            }
        }
        let documents = try await firestore.call { connection throws(StatusError) in
            try await connection.documents(at: [document.documentPath], in: begin(on: connection))
        }
        let found = documents.first ?? nil
        if found == nil { state.withLock { state in _ = state.missing.insert(document.documentPath) } }
        return DocumentSnapshot(found, of: document)
    }

    /// Reads a document as of the read time of the transaction, for synchronous blocks. Blocks the calling thread.
    public func getDocument(_ document: DocumentReference) throws -> DocumentSnapshot {
        let read = BlockingRead()
        Task {
            do {
                read.finish(.success(try await self.getDocument(document)))
            } catch {
                read.finish(.failure(error))
            }
        }
        return try read.wait()
    }

    /// Returns the transaction ID; begins the transaction on the first call.
    private func begin(on connection: HearthConnection) async throws(StatusError) -> String {
        if let id = state.withLock(\.id) { return id }
        let id = try await connection.beginTransaction()
        let first = state.withLock { state in
            if state.id == nil { state.id = id }
            return state.id
        }
        return first ?? id
    }

    /// Commits the writes.
    ///
    /// - Throws: ``FirestoreErrorCode/aborted`` if a document read by the transaction has changed.
    func commit() async throws {
        let (id, writes) = state.withLock { ($0.id, $0.writes) }
        _ = try await firestore.call { connection throws(StatusError) in
            try await connection.commit(writes.get(), in: id, for: user)
        }
    }

    /// Rolls back the transaction on the server, where it would otherwise expire after one minute.
    ///
    /// Runs in an unstructured task, since the caller's task may have been cancelled.
    func rollBack() {
        guard let id = state.withLock(\.id) else { return }
        Task { [firestore] in
            _ = try? await firestore.call { connection throws(StatusError) in try await connection.rollBack(id) }
        }
    }

    /// Adds a write, whose error is that of the commit.
    ///
    /// - Parameter isUpdate: True if it fails unless the document exists.
    func add(
        to document: DocumentReference,
        isUpdate: Bool = false,
        _ write: () throws(StatusError) -> Write
    ) -> Transaction {
        state.withLock { state in
            let isMissing = state.missing.remove(document.documentPath) != nil
            state.writes.add { () throws(StatusError) in
                try firestore.checkReferences(to: [document.firestore])
                if isUpdate, isMissing {
                    let message = "The transaction has read that the document does not exist, so it cannot update it."
                    throw StatusError(.invalidArgument, message, path: document.path)
                }
                return try write()
            }
        }
        return self
    }
}

/// A read that blocks a thread.
private final class BlockingRead: Sendable {
    private let result = Mutex<Result<DocumentSnapshot, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    func finish(_ result: Result<DocumentSnapshot, any Error>) {
        self.result.withLock { $0 = result }
        isDone.signal()
    }

    func wait() throws -> DocumentSnapshot {
        isDone.wait()
        guard let result = result.withLock({ $0 }) else {
            preconditionFailure("The result is set before the semaphore is signaled.")
        }
        return try result.get()
    }
}
