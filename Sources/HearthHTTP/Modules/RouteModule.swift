package import Concurrency
package import HearthAPI
import HummingbirdCore
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

    /// Returns the route of unlisted paths for browsers, to which JSON says little; `nil` if the module has no pages. Called once.
    func unlistedPages(using server: ServerResources) -> Route?
}

extension RouteModule {
    /// Returns `nil`.
    package func unlistedPages(using server: ServerResources) -> Route? { nil }
}

/// The resources shared by the route modules of a server: its authentication, memory, threads and streams, with their limits.
package struct ServerResources: Sendable {
    let configuration: HTTPServerConfiguration
    package let authenticator: Authenticator
    /// The limits on the rate of calls.
    package let callRates: CallRateLimiter
    /// The memory budget of request bodies.
    package let bodyBudget: MemoryBudget
    /// The memory budget of responses.
    package let responseBudget: MemoryBudget
    /// The threads for large bodies and batches.
    package let bodyExecutor: LargeBodyExecutor
    /// The watch streams.
    package let streams: WatchStreamService
    package let logger: Logger
    /// True if calls have spans.
    package var isTraced: Bool { configuration.tracer != nil }

    /// Creates the resources of a server with a configuration.
    package init(_ configuration: HTTPServerConfiguration, context: ServiceContext, logger: Logger) {
        self.configuration = configuration
        authenticator = Authenticator(
            keys: context.keys,
            endUsers: context.endUsers,
            rules: context.rulesRegistry,
            sessions: context.sessions,
            failedAttempts: FailedAttemptLimiter(limit: configuration.maximumFailedAttempts),
            metrics: context.server.metrics.access
        )
        callRates = CallRateLimiter(CallRateLimiter.Rates(configuration))
        bodyBudget = MemoryBudget(
            limit: configuration.maximumBufferedBodyBytes,
            smallReservationBytes: LargeBodyExecutor.smallBodyBytes
        )
        responseBudget = MemoryBudget(
            limit: configuration.maximumBufferedResponseBytes,
            smallReservationBytes: RPCResponseBody.smallResponseBytes,
            timeout: configuration.responseMemoryTimeout
        )
        bodyExecutor = LargeBodyExecutor(limit: configuration.maximumConcurrentLargeBodies)
        streams = WatchStreamService(
            slots: WatchSlots(WatchSlots.Limits(configuration), activity: context.server.activity),
            logger: logger
        )
        self.logger = logger
    }
}
