internal import DocumentModel
internal import HearthTransport
internal import Synchronization

/// A read from the server whose caller may stop waiting before it has ended.
final class ServerReading: Sendable {
    private let outcome = Mutex<Result<SyncSnapshot, StatusError>?>(nil)
    private let end = OneTimeEvent()

    /// The result; `nil` before the end.
    var result: Result<SyncSnapshot, StatusError>? { outcome.withLock(\.self) }

    func finish(_ result: Result<SyncSnapshot, StatusError>) {
        outcome.withLock { $0 = result }
        end.signal()
    }

    /// Waits for the end, until the task is cancelled.
    ///
    /// - Parameter duration: The maximum time; `nil` for no limit.
    func wait(for duration: Duration?) async {
        if let duration { await end.wait(for: duration) } else { await end.wait() }
    }
}
