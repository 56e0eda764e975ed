import HearthService
import Synchronization

/// The streams that are open, to end them when the server stops.
final class OpenStreams: Sendable {
    private struct State {
        var sessions: [ObjectIdentifier: WatchSession] = [:]
        var isShuttingDown = false
    }

    private let state = Mutex(State())

    /// Adds a stream that begins; where the server stops already, it ends it.
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

    /// Ends all of them, and all that begin from now on.
    func shutDown() {
        let sessions = state.withLock { state in
            state.isShuttingDown = true
            return Array(state.sessions.values)
        }
        for session in sessions { session.end(.shutdown) }
    }
}
