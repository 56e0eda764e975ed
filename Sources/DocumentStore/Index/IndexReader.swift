internal import GRDB
internal import Synchronization

/// One reading of the index, which may be cancelled from elsewhere.
final class IndexReader: Sendable {
    private struct State {
        var connection: DatabaseQueue?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Whether to stop reading.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Notes which connection is used.
    func begin(_ connection: DatabaseQueue) {
        state.withLock { $0.connection = connection }
    }

    /// After this the connection may be another's.
    func end() {
        state.withLock { $0.connection = nil }
    }

    /// Ends what the connection is doing, and everything that is begun with it afterwards.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.connection?.interrupt()
        }
    }
}
