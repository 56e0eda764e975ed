internal import Dispatch
internal import DocumentModel
internal import Synchronization

/// Reads and writes that happen at one time: what is read has not changed when the writes are carried out.
///
/// All reads come before the first write.
public final class Transaction: Sendable {
    private let firestore: Firestore
    private let state = Mutex(State())

    private struct State {
        /// What the server calls the transaction; nil before the first read.
        var id: String?
        var writes = PendingWrites()
    }

    init(_ firestore: Firestore) {
        self.firestore = firestore
    }

    /// Reads a document as of the transaction's time.
    ///
    /// - Throws: A ``FirestoreError``, which is also to be thrown by the block: the transaction may have to be run again.
    nonisolated(nonsending) public func getDocument(_ document: DocumentReference) async throws -> DocumentSnapshot {
        try firestoreErrors { () throws(StatusError) in
            try firestore.check([document.firestore])
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
            try await connection.documents(at: [document.documentPath], in: begun(on: connection))
        }
        return DocumentSnapshot(documents.first ?? nil, of: document)
    }

    /// Reads a document as of the transaction's time, for blocks that can't wait: their thread stands still meanwhile.
    public func getDocument(_ document: DocumentReference) throws -> DocumentSnapshot {
        let read = PendingRead()
        Task {
            do {
                read.finish(.success(try await self.getDocument(document)))
            } catch {
                read.finish(.failure(error))
            }
        }
        return try read.wait()
    }

    /// The transaction's name, which the server gives it with the first read.
    private func begun(on connection: HearthConnection) async throws(StatusError) -> String {
        if let id = state.withLock(\.id) { return id }
        let id = try await connection.beginTransaction()
        let first = state.withLock { state in
            if state.id == nil { state.id = id }
            return state.id
        }
        return first ?? id
    }

    /// Carries out the writes, if what was read has not changed.
    func commit() async throws {
        let (id, writes) = state.withLock { ($0.id, $0.writes) }
        _ = try await firestore.call { connection throws(StatusError) in
            try await connection.commit(writes.get(), in: id)
        }
    }

    /// Tells the server that there will be no commit. It would find out by itself in a minute.
    ///
    /// Nobody waits for that. It is not the caller's task that does it, since that may have been cancelled.
    func rollBack() {
        guard let id = state.withLock(\.id) else { return }
        Task { [firestore] in
            _ = try? await firestore.call { connection throws(StatusError) in try await connection.rollBack(id) }
        }
    }

    func add(to document: DocumentReference, _ write: () throws(StatusError) -> Write) -> Transaction {
        state.withLock { state in
            state.writes.add { () throws(StatusError) in
                try firestore.check([document.firestore])
                return try write()
            }
        }
        return self
    }
}

/// A read that a thread waits for.
private final class PendingRead: Sendable {
    private let result = Mutex<Result<DocumentSnapshot, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    func finish(_ result: Result<DocumentSnapshot, any Error>) {
        self.result.withLock { $0 = result }
        isDone.signal()
    }

    func wait() throws -> DocumentSnapshot {
        isDone.wait()
        guard let result = result.withLock({ $0 }) else { preconditionFailure("The signal comes after the result.") }
        return try result.get()
    }
}
