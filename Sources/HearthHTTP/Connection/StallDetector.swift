import NIOCore

/// Detects a client that does not read its response.
struct StallDetector {
    private let timeout: TimeAmount
    private var pendingBytes = 0
    private var lastProgress = NIODeadline.now()

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Starts monitoring when the channel becomes unwritable.
    mutating func start(pendingBytes: Int, at now: NIODeadline) {
        self.pendingBytes = pendingBytes
        lastProgress = now
    }

    /// Returns whether the client has read nothing for the whole timeout.
    mutating func isStalled(pendingBytes: Int, at now: NIODeadline) -> Bool {
        if pendingBytes < self.pendingBytes {
            lastProgress = now
        }
        self.pendingBytes = pendingBytes
        return now - lastProgress >= timeout
    }
}
