internal import DocumentModel
internal import Logging
internal import Synchronization

/// The log entries about an engine. They have its own messages, which clients do not see, and which name hosts but no passwords.
final class EngineLog: Sendable {
    private let logger: Logger
    /// True from a connection that failed to one that was made.
    private let isAway = Atomic(false)
    /// The number of transactions that were tried again.
    let retryCount = Atomic(0)
    /// The number of times that the history of a database was found to be replaced.
    let replacedHistoryCount = Atomic(0)

    /// The number of commits that other servers have decided for this one.
    let forwardedCount = Atomic(0)
    /// The number of batches of commits to which other servers gave no answer.
    let failedForwardCount = Atomic(0)

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// True unless the last attempt to make a connection has failed.
    var isReached: Bool { !isAway.load(ordering: .relaxed) }

    /// Records that the engine has lost commits that it had acknowledged.
    func didReplaceHistory(of database: Int64) {
        replacedHistoryCount.add(1, ordering: .relaxed)
        logger.warning(
            "The database engine has lost commits, in a fail-over or a restore. Watchers are told",
            metadata: ["engine.database": "\(database)"]
        )
    }

    /// Records that the server with the lease of a database gave no answer to a batch of commits.
    func didFailToForward(to address: String) {
        failedForwardCount.add(1, ordering: .relaxed)
        logger.notice(
            "The server that has the lease of a database gave no answer to forwarded commits. This server makes its commits itself",
            metadata: ["server.address": "\(address)"]
        )
    }

    /// Records that transactions of servers that stood still were ended.
    func didEndStalledTransactions(_ count: Int) {
        logger.warning(
            "Transactions of servers that stand still, or have lost their network, kept others waiting, and were ended",
            metadata: ["engine.transactions": "\(count)"]
        )
    }

    /// Records that a document whose row is damaged has no entries in the index.
    func didSkip(_ path: String, because error: StatusError) {
        logger.error(
            "A row of the database engine is damaged. Its document is not in the index. Restore it from a backup of the engine",
            metadata: ["document.path": "\(path)", "error": "\(error.message)"]
        )
    }

    /// Records that a connection was made.
    func didConnect() {
        if isAway.exchange(false, ordering: .relaxed) { logger.notice("The database engine is reached again") }
    }

    /// Records a failure; of several connections that fail, only the first.
    func didFail(with error: StatusError) {
        guard let failure = error.engineError else { return }
        switch failure {
        case .connection(let message):
            guard !isAway.exchange(true, ordering: .relaxed) else { return }
            logger.warning("The database engine cannot be reached", metadata: ["error": "\(message)"])
        case .timeout:
            logger.warning("The database engine did not answer in time")
        case .statement(let code, let message):
            guard !failure.isConflict else { return }
            logger.warning("The database engine failed", metadata: ["error": "\(message)", "engine.code": "\(code)"])
        }
    }
}
