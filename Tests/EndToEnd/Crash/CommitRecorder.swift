import DocumentModel
import HearthClient
import Synchronization

/// A ``CommitHistory`` that several callers and watchers write at the same time.
final class CommitRecorder: Sendable {
    private let recorded: Mutex<CommitHistory>

    /// Goes on with a history.
    init(_ history: CommitHistory) {
        recorded = Mutex(history)
    }

    /// What has been recorded.
    var history: CommitHistory { recorded.withLock { $0 } }

    /// Sends a commit and records what came of it. `plan` is given the commit's number, to put into its documents.
    ///
    /// - Throws: What the server answered, or that it did not.
    @discardableResult
    func commit(
        on server: CrashServer,
        _ plan: @Sendable (Int) -> [PlannedWrite]
    ) async throws(StatusError) -> Timestamp {
        let (number, writes) = recorded.withLock { $0.begin(plan) }
        do throws(StatusError) {
            let time = try await server.commit(writes)
            recorded.withLock { $0.end(number, .acknowledged(time)) }
            return time
        } catch {
            recorded.withLock { $0.end(number, CommitHistory.Outcome(error)) }
            throw error
        }
    }

    /// Records what a watcher was shown.
    func see(_ change: WatchedChange) {
        recorded.withLock { $0.seeInStream(change.path, number: change.number, at: change.time) }
    }
}
