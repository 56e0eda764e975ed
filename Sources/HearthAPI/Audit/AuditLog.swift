import Dispatch
package import DocumentModel
import DocumentStore
package import Logging
import StorageIO
import Synchronization

/// The audit log: a file with a line for each administrative operation, which shows changes to earlier lines.
///
/// A thread of its own writes and syncs the lines, in the order in which they are recorded.
package final class AuditLog: Sendable {
    private let file: Mutex<AuditFile>
    private let queue = DispatchQueue(label: "hearth.audit", qos: .utility)
    private let logger: Logger
    /// The number of events that wait to be written.
    private let pendingCount = Atomic(0)

    /// The maximum number of events that wait. Further ones are lost, and the log of the server says so.
    private static let maximumPendingCount = 10_000

    /// Opens the log at a path, whose folder must exist. Blocks the calling thread.
    ///
    /// - Parameter maximumBytes: The size at which a new file begins.
    /// - Throws: ``StatusCode/failedPrecondition`` if the file cannot be written or another process does, ``StatusCode/dataLoss`` if it
    ///   isn't an audit log.
    package init(path: String, maximumBytes: Int? = nil, logger: Logger) throws(StatusError) {
        file = Mutex(try AuditFile(path: path, maximumBytes: maximumBytes ?? AuditFile.standardMaximumBytes))
        self.logger = logger
    }

    /// Records an event. Returns without waiting for the disk.
    package func record(_ event: AuditEvent) {
        submit(event) {}
    }

    /// Records an event, and waits until it is durable. A failure to write it is logged.
    package func recordDurably(_ event: AuditEvent) async {
        await withCheckedContinuation { continuation in submit(event) { continuation.resume() } }
    }

    /// Waits until all events that were recorded before are durable.
    package func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func submit(_ event: AuditEvent, completion: @escaping @Sendable () -> Void) {
        guard pendingCount.add(1, ordering: .relaxed).newValue <= Self.maximumPendingCount else {
            pendingCount.subtract(1, ordering: .relaxed)
            logger.error("Lost an entry of the audit log: too many wait", metadata: ["audit.action": "\(event.action.rawValue)"])
            return completion()
        }
        queue.async { [self] in
            do throws(FileSystemError) {
                try file.withLock { file throws(FileSystemError) in try file.append(event) }
            } catch {
                logger.error(
                    "Lost an entry of the audit log: it cannot be written",
                    metadata: ["audit.action": "\(event.action.rawValue)", "error": "\(error)"]
                )
            }
            pendingCount.subtract(1, ordering: .relaxed)
            completion()
        }
    }
}

extension ServiceContext {
    /// Runs an operation, and records it with its outcome in the audit log, if there is one, before this returns.
    ///
    /// - Parameters:
    ///   - target: The ID or path of what the operation is about.
    ///   - detail: What it does, in words of a fixed set.
    package func audited<Result>(
        _ action: AuditEvent.Action,
        on target: String? = nil,
        detail: String? = nil,
        _ operation: () async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let result: Result
        do throws(StatusError) {
            result = try await operation()
        } catch {
            await audit(action, on: target, detail: detail, error: error)
            throw error
        }
        await audit(action, on: target, detail: detail)
        return result
    }

    /// Records an operation of the caller in the audit log, if there is one, before this returns.
    package func audit(
        _ action: AuditEvent.Action,
        on target: String? = nil,
        detail: String? = nil,
        error: StatusError? = nil
    ) async {
        guard let audit = server.audit else { return }
        await audit.recordDurably(
            AuditEvent(action, on: target, detail: detail, in: databaseName, by: caller, error: error)
        )
    }
}
