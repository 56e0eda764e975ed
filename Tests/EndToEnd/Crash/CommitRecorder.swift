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

    /// Sets documents in one call, each in a commit of its own, and records what came of each.
    ///
    /// - Throws: What the server answered to the call, or that it did not.
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

    /// Records what a watcher was shown.
    func see(_ change: WatchedChange) {
        recorded.withLock { $0.seeInStream(change.path, number: change.number, at: change.time) }
    }
}
