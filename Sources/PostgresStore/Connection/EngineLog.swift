internal import DocumentModel
internal import Logging
internal import Synchronization

/// The log entries about an engine. They have its own messages, which clients do not see, and which name hosts but no passwords.
final class EngineLog: Sendable {
    private let logger: Logger
    /// True from a connection that failed to one that was made.
    private let isAway = Atomic(false)

    init(_ logger: Logger) {
        self.logger = logger
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
