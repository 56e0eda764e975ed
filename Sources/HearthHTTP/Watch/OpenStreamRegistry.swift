import HearthAPI
import Synchronization

/// The open watch streams, which are ended on shutdown.
final class OpenStreamRegistry: Sendable {
    private struct State {
        var sessions: [ObjectIdentifier: WatchSession] = [:]
        var isShuttingDown = false
    }

    private let state = Mutex(State())

    /// Adds a stream; ends it immediately during shutdown.
    func add(_ session: WatchSession) {
        let isShuttingDown = state.withLock { state in
            state.sessions[ObjectIdentifier(session)] = session
            return state.isShuttingDown
        }
        if isShuttingDown { session.end(.shutdown) }
    }

    func remove(_ session: WatchSession) {
        state.withLock { _ = $0.sessions.removeValue(forKey: ObjectIdentifier(session)) }
    }

    /// Ends all streams, including those added later.
    func shutDown() {
        let sessions = state.withLock { state in
            state.isShuttingDown = true
            return Array(state.sessions.values)
        }
        for session in sessions { session.end(.shutdown) }
    }
}
