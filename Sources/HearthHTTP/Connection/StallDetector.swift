import NIOCore

/// Detects a client that does not read its response.
struct StallDetector {
    private let timeout: TimeAmount
    private var deliveredBytes = 0
    private var lastProgress = NIODeadline.now()

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Starts monitoring.
    ///
    /// - Parameter deliveredBytes: The number of bytes that the client has received so far.
    mutating func start(deliveredBytes: Int, at now: NIODeadline) {
        self.deliveredBytes = deliveredBytes
        lastProgress = now
    }

    /// Returns whether the client has received nothing for the whole timeout.
    mutating func isStalled(deliveredBytes: Int, at now: NIODeadline) -> Bool {
        if deliveredBytes > self.deliveredBytes {
            self.deliveredBytes = deliveredBytes
            lastProgress = now
        }
        return now - lastProgress >= timeout
    }
}

/// The event by which a stream asks its connection to tell it when the client has stopped reading, instead of being disconnected
/// at once. The stream then ends, and the client has ``ConnectionConfiguration/stallGrace`` to read the rest.
struct StreamStallObservation: Sendable {
    /// Called at most once, on the event loop.
    let onStall: @Sendable () -> Void
}
