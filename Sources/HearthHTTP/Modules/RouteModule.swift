package import Concurrency
package import HearthAPI
import Hummingbird
import JSONRPC
package import Logging

/// A server module that contributes routes: paths, policies and handlers.
///
/// ```swift
/// struct TimeModule: RouteModule {
///     func routes(using server: ServerResources) -> [Route] {
///         [Route("/time", .api, [.get: { _, _ in Response(status: .ok) }])]
///     }
/// }
/// ```
package protocol RouteModule: Sendable {
    /// Returns the routes. Called once, when the server is created.
    func routes(using server: ServerResources) -> [Route]
}

/// The resources shared by the route modules of a server: its memory, threads and streams, with their limits.
package struct ServerResources: Sendable {
    let configuration: HTTPServerConfiguration
    /// The memory budget of responses.
    package let responseBudget: MemoryBudget
    /// The threads for large bodies and batches.
    package let bodyExecutor: LargeBodyExecutor
    /// The watch streams.
    package let streams: WatchStreamService
    package let logger: Logger

    /// Creates the resources of a server with a configuration.
    package init(_ configuration: HTTPServerConfiguration, activity: ServerActivity, logger: Logger) {
        self.configuration = configuration
        responseBudget = MemoryBudget(
            limit: configuration.maximumBufferedResponseBytes,
            smallReservationBytes: RPCResponseBody.smallResponseBytes,
            timeout: configuration.responseMemoryTimeout
        )
        bodyExecutor = LargeBodyExecutor(limit: configuration.maximumConcurrentLargeBodies)
        streams = WatchStreamService(
            slots: WatchSlots(
                limit: configuration.maximumWatchers,
                limitPerAddress: configuration.maximumWatchersPerAddress,
                limitPerKey: configuration.maximumWatchersPerKey,
                activity: activity
            ),
            logger: logger
        )
        self.logger = logger
    }
}
