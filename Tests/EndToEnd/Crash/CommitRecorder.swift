import DocumentModel
import HearthClient
import Synchronization

/// A thread-safe recorder of a ``CommitHistory``.
final class CommitRecorder: Sendable {
    private let recorded: Mutex<CommitHistory>

    /// Creates a recorder that continues a history.
    init(_ history: CommitHistory) {
        recorded = Mutex(history)
    }

    /// The recorded history.
    var history: CommitHistory { recorded.withLock { $0 } }

    /// Sends a commit and records its outcome. `plan` receives the commit number to store in the documents.
    ///
    /// - Throws: The error of the server or of the connection.
    @discardableResult
    func commit(
        on server: CrashServer,
        inTransaction: Bool = false,
        _ plan: @Sendable (Int) -> [PlannedWrite]
    ) async throws(StatusError) -> Timestamp {
        let (number, writes) = recorded.withLock { $0.begin(plan) }
        do throws(StatusError) {
            let time = try await server.commit(writes, inTransaction: inTransaction)
            recorded.withLock { $0.end(number, .acknowledged(time)) }
            return time
        } catch {
            recorded.withLock { $0.end(number, CommitHistory.Outcome(error)) }
            throw error
        }
    }

    /// Sets documents with a batch write, and records the outcome of each write.
    ///
    /// - Throws: The error of the server or of the connection.
    func batchWrite(on server: CrashServer, _ plans: [@Sendable (Int) -> [PlannedWrite]]) async throws(StatusError) {
        let begun = recorded.withLock { history in plans.map { history.begin($0) } }
        let outcomes: [Result<Timestamp, StatusError>]
        do throws(StatusError) {
            outcomes = try await server.batchWrite(begun.flatMap(\.writes))
        } catch {
            outcomes = begun.map { _ in .failure(error) }
        }
        recorded.withLock { history in
            for ((number, _), outcome) in zip(begun, outcomes) {
                switch outcome {
                case .success(let time): history.end(number, .acknowledged(time))
                case .failure(let error): history.end(number, CommitHistory.Outcome(error))
                }
            }
        }
        for outcome in outcomes { _ = try outcome.get() }
    }

    /// Records a change received by a watcher.
    func recordWatched(_ change: WatchedChange) {
        recorded.withLock { $0.recordWatched(change.path, number: change.number, at: change.time) }
    }
}
