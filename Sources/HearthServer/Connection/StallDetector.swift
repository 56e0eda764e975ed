import NIOCore

/// Finds out whether a client accepts what is sent to it.
struct StallDetector {
    private let timeout: TimeAmount
    private var pendingBytes = 0
    private var lastProgress = NIODeadline.now()

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    /// Begins to look when the client accepts no more for now.
    mutating func begin(pendingBytes: Int, at now: NIODeadline) {
        self.pendingBytes = pendingBytes
        lastProgress = now
    }

    /// Whether nothing was accepted for too long.
    mutating func isStalled(pendingBytes: Int, at now: NIODeadline) -> Bool {
        if pendingBytes < self.pendingBytes {
            lastProgress = now
        }
        self.pendingBytes = pendingBytes
        return now - lastProgress >= timeout
    }
}
