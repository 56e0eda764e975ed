package import HearthAPI
import Synchronization

/// A stream that the server may have to end.
package protocol OpenStream: AnyObject, Sendable {
    /// Ends the stream as soon as possible. May be called from any task; only the first reason counts.
    ///
    /// - Parameter reason: The reason to tell the client; `nil` if it has disconnected.
    func end(_ reason: OutgoingWatchFrame.EndReason?)
}

extension WatchSession: OpenStream {}

/// The open streams, which are ended on shutdown.
final class OpenStreamRegistry: Sendable {
    private struct State {
        var streams: [ObjectIdentifier: any OpenStream] = [:]
        var isShuttingDown = false
    }

    private let state = Mutex(State())

    /// Adds a stream; ends it immediately during shutdown.
    func add(_ stream: any OpenStream) {
        let isShuttingDown = state.withLock { state in
            state.streams[ObjectIdentifier(stream)] = stream
            return state.isShuttingDown
        }
        if isShuttingDown { stream.end(.shutdown) }
    }

    func remove(_ stream: any OpenStream) {
        state.withLock { _ = $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
    }

    func contains(_ stream: any OpenStream) -> Bool {
        state.withLock { $0.streams[ObjectIdentifier(stream)] != nil }
    }

    /// Returns whether any open stream meets a condition.
    func contains(where condition: (any OpenStream) -> Bool) -> Bool {
        state.withLock { $0.streams.values.contains(where: condition) }
    }

    /// Ends all streams, including those added later.
    func shutDown() {
        let streams = state.withLock { state in
            state.isShuttingDown = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.end(.shutdown) }
    }
}

/// The registration of an open stream, which ends with the value.
final class StreamRegistration: Sendable {
    private let stream: any OpenStream
    private let registry: OpenStreamRegistry
    private let observation: RevocationObservation

    init(_ stream: any OpenStream, in registry: OpenStreamRegistry, _ observation: RevocationObservation) {
        self.stream = stream
        self.registry = registry
        self.observation = observation
        registry.add(stream)
    }

    deinit {
        registry.remove(stream)
    }
}
