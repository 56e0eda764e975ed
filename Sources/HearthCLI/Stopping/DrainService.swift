import HearthAPI
import Logging
import ServiceLifecycle

/// Keeps a server that has been told to stop accepting requests for a while, so that load balancers can send theirs elsewhere.
struct DrainService: Service {
    let duration: Duration
    let activity: ServerActivity
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        activity.beginStopping()
        guard duration > .zero else { return }
        logger.notice("Stopping soon: no longer ready", metadata: ["drain.seconds": "\(duration.components.seconds)"])
        try? await Task.sleep(for: duration)
    }
}
