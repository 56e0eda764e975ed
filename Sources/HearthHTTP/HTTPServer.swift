package import Concurrency
package import DocumentModel
import HTTPTypes
package import HearthAPI
import Hummingbird
import HummingbirdCore
import JSONRPC
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Hearth's HTTP server: connections, limits, and the routes of its modules.
///
/// ```swift
/// let modules: [any RouteModule] = [APIModule(context), FirestoreRESTModule(context), AdminModule(pages)]
/// let server = try HTTPServer(configuration: configuration, context: context, modules: modules, logger: logger) { port in
///     print("http://127.0.0.1:\(port)")
/// }
/// ```
///
/// It runs until graceful shutdown: it then stops accepting connections, completes the calls in progress, ends the watch streams
/// with an `end` frame, and returns. The store belongs to the caller and stays open.
package struct HTTPServer: Service {
    private let configuration: HTTPServerConfiguration
    private let context: ServiceContext
    /// The memory budget of request bodies.
    package let bodyBudget: MemoryBudget
    private let connection: ConnectionConfiguration
    private let routes: RouteTable
    private let responder: RequestResponder
    /// The resources shared by the modules.
    package let resources: ServerResources
    private let logger: Logger
    private let onRunning: @Sendable (_ port: Int) async -> Void

    /// Creates a server, which listens once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - modules: The modules whose routes are served. No two of them may have the same path.
    ///   - onRunning: Called with the port once the server is listening.
    /// - Throws: ``StatusCode/failedPrecondition`` when the server would be reachable from other machines and there are no keys.
    package init(
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        context: ServiceContext,
        modules: [any RouteModule],
        logger: Logger,
        onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) throws(StatusError) {
        try configuration.checkHost(hasKeys: context.keys.hasValidKey)
        // A server reachable from other machines requires keys even if all of them are revoked later.
        if !configuration.isLoopback { context.keys.requireKeys() }
        let resources = ServerResources(configuration, activity: context.server.activity, logger: logger)
        let bodyBudget = MemoryBudget(
            limit: configuration.maximumBufferedBodyBytes,
            smallReservationBytes: LargeBodyExecutor.smallBodyBytes
        )
        self.configuration = configuration
        self.context = context
        self.bodyBudget = bodyBudget
        self.connection = ConnectionConfiguration(
            configuration,
            maximumBodyBytes: context.server.limits.maximumBodyBytes,
            logger: logger
        )
        self.routes = RouteTable(modules.flatMap { $0.routes(using: resources) })
        self.responder = Self.makeResponder(configuration, context: context, bodyBudget: bodyBudget)
        self.resources = resources
        self.logger = logger
        self.onRunning = onRunning
    }

    /// Runs the server until graceful shutdown or until the task is cancelled.
    ///
    /// - Throws: ``StatusCode/unavailable`` when the address cannot be bound, for example because the port is in use.
    package func run() async throws {
        let server = Server(
            childChannelSetup: ConnectionChannel(
                ConnectionResponder(routes: routes, responder: responder, logger: logger, date: connection.date),
                configuration: connection
            ),
            configuration: ServerConfiguration(address: .hostname(configuration.host, port: configuration.port)),
            onServerRunning: { channel in
                logAccessWarnings()
                await onRunning(channel.localAddress?.port ?? configuration.port)
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger
        )
        try await withGracefulShutdownHandler {
            // Cancelled when the server ends.
            async let _ = context.keys.runMaintenance()
            async let _ = context.sessions.runMaintenance()
            async let _ = context.runCommitRateSampling()
            do {
                try await server.run()
            } catch let error as IOError {
                throw configuration.bindError(error)
            }
        } onGracefulShutdown: {
            logger.notice("Shutting down: completing requests and ending streams")
            connection.shutdown.start()
            resources.streams.shutDown()
        }
    }

    /// Logs warnings about insecure configurations.
    private func logAccessWarnings() {
        if !context.keys.requiresKeys {
            logger.warning(
                """
                The server has no API keys: every program and user on this machine can read and write everything. \
                Create the first key with `hearth keys create --role admin --data DIR`
                """
            )
        } else if !configuration.isLoopback {
            logger.warning(
                "The server is reachable from other machines without TLS. Put a TLS proxy in front to protect keys and documents in transit",
                metadata: ["server.address": "\(configuration.host)"]
            )
        }
    }
}

extension HTTPServer {
    private static func makeResponder(
        _ configuration: HTTPServerConfiguration,
        context: ServiceContext,
        bodyBudget: MemoryBudget
    ) -> RequestResponder {
        RequestResponder(
            hostCheck: HostCheck(
                listeningOn: configuration.host,
                allowedHosts: configuration.allowedHosts,
                allowsOwnAddress: configuration.isWildcard
            ),
            originCheck: OriginCheck(corsPolicy: CORSPolicy(configuration.allowedOrigins)),
            proxies: TrustedProxies(configuration.trustedProxies),
            authenticator: Authenticator(
                keys: context.keys,
                sessions: context.sessions,
                failedAttempts: FailedAttemptLimiter(limit: configuration.maximumFailedAttempts)
            ),
            bodyBudget: bodyBudget
        )
    }
}
