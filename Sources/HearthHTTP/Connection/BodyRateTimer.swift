import NIOCore

/// The timeout for a request body that arrives below the minimum rate. Used on the event loop.
final class BodyRateTimer {
    private let configuration: ConnectionConfiguration
    private var deadline: RequestDeadline

    init(_ configuration: ConnectionConfiguration) {
        self.configuration = configuration
        self.deadline = RequestDeadline(configuration.bodyTimeout)
    }

    /// Starts the timer unless it is running.
    ///
    /// - Parameters:
    ///   - receivedByteCount: Returns the number of body bytes received; `nil` when no more are expected.
    ///   - onTimeout: Called once, with the failure of the request.
    func start(on eventLoop: any EventLoop, receivedByteCount: @escaping () -> Int?, onTimeout: @escaping (HTTPFailure) -> Void) {
        deadline.start(on: eventLoop) {
            self.check(on: eventLoop, receivedByteCount: receivedByteCount, onTimeout: onTimeout)
        }
    }

    private func check(
        on eventLoop: any EventLoop,
        receivedByteCount: @escaping () -> Int?,
        onTimeout: @escaping (HTTPFailure) -> Void
    ) {
        guard let byteCount = receivedByteCount() else { return }
        let end = deadline.start + configuration.bodyTimeout(after: byteCount)
        guard end > eventLoop.now else { return onTimeout(.bodyTimeout(configuration)) }
        deadline.extend(to: end, on: eventLoop) {
            self.check(on: eventLoop, receivedByteCount: receivedByteCount, onTimeout: onTimeout)
        }
    }

    func stop() {
        deadline.stop()
    }
}
