import NIOCore

/// Monitors whether a client reads what was written to a channel, and disconnects one that reads nothing for the stall timeout.
/// Used on the event loop.
///
/// Checks run while the channel does not accept more data; for a stream that has asked to be told about a stall, also while the
/// client has not received everything, because the kernel accepts much from a stream that nobody reads.
final class StallMonitor {
    private let configuration: ConnectionConfiguration
    private let channel: any Channel
    private let pendingByteCount: () -> Int
    private let disconnect: () -> Void
    private var detector: StallDetector
    private var check: Scheduled<Void>?
    private var writtenByteCount = 0
    /// True if the channel carries a stream that has asked to be told about a stall.
    private(set) var isObserved = false
    private var observation: StreamStallObservation?

    /// Creates a monitor, to be stopped when the channel is closed.
    ///
    /// - Parameters:
    ///   - pendingByteCount: Returns the number of written bytes that the client has not received.
    ///   - disconnect: Disconnects the client.
    init(
        _ configuration: ConnectionConfiguration,
        of channel: any Channel,
        pendingByteCount: @escaping () -> Int,
        disconnect: @escaping () -> Void
    ) {
        self.configuration = configuration
        self.channel = channel
        self.pendingByteCount = pendingByteCount
        self.disconnect = disconnect
        self.detector = StallDetector(timeout: configuration.stallTimeout)
    }

    /// Records that bytes have been written.
    func recordWrite(_ byteCount: Int) {
        writtenByteCount += byteCount
        if isObserved, check == nil { start() }
    }

    /// Records that the channel accepts more data, or no longer does.
    func updateWritability() {
        if !channel.isWritable {
            if check == nil { start() }
        } else if !isObserved {
            // The checks of a stream end when its client has received everything.
            stop()
        }
    }

    /// Records that the channel carries a stream.
    ///
    /// - Parameter observation: Told about a stall, instead of disconnecting the client at once.
    func observe(_ observation: StreamStallObservation) {
        isObserved = true
        self.observation = observation
    }

    func stop() {
        check?.cancel()
        check = nil
    }

    private func start() {
        detector.start(deliveredBytes: writtenByteCount - pendingByteCount(), at: .now())
        schedule()
    }

    private func schedule() {
        check = channel.eventLoop.assumeIsolated().scheduleTask(in: configuration.stallCheckInterval) { self.checkStall() }
    }

    private func checkStall() {
        check = nil
        let pending = pendingByteCount()
        guard pending > 0 else { return }
        let isStalled = detector.isStalled(deliveredBytes: writtenByteCount - pending, at: .now())
        if !channel.isWritable, configuration.shutdown.isGracePeriodOver(at: .now()) {
            disconnect()
        } else if isStalled, let observation {
            self.observation = nil
            detector = StallDetector(timeout: configuration.stallGrace)
            start()
            observation.onStall()
        } else if isStalled {
            disconnect()
        } else {
            schedule()
        }
    }
}
