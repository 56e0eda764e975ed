import DocumentModel
import HearthAPI
import Logging
import ServiceLifecycle

/// The archiving of commits beside the backups of a server, at an interval.
struct JournalArchiving: Service {
    private let databases: DatabaseRegistry
    private let interval: Duration
    private let logger: Logger

    /// Creates the service; `nil` if it is not configured.
    init?(_ options: ServeBackupOptions, _ databases: DatabaseRegistry, logger: Logger) {
        guard let seconds = options.archiveSeconds else { return nil }
        self.databases = databases
        self.logger = logger
        interval = .seconds(seconds)
    }

    /// Archives commits until the server has shut down, and then the last ones.
    func run() async throws {
        let failures = FailureLog(logger: logger)
        await cancelWhenGracefulShutdown {
            // Begins at once: from then on, what is not archived yet is kept.
            repeat { await archive(failures) } while (try? await Task.sleep(for: interval)) != nil
        }
        await archive(failures)
    }

    private func archive(_ failures: FailureLog) async {
        do throws(StatusError) {
            try await databases.archiveJournals()
            await failures.recordSuccess()
        } catch {
            await failures.record(error)
        }
    }
}

/// Logs the first of consecutive failures, and the success after the last.
private actor FailureLog {
    private let logger: Logger
    private var count = 0

    init(logger: Logger) {
        self.logger = logger
    }

    func record(_ error: StatusError) {
        count += 1
        guard count == 1 else { return }
        logger.error("Failed to archive commits; trying again at each interval", metadata: ["error": "\(error)"])
    }

    func recordSuccess() {
        if count > 0 { logger.notice("Commits are archived again", metadata: ["archive.failures": "\(count)"]) }
        count = 0
    }
}
