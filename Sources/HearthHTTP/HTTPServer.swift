package import DocumentModel
import HTTPTypes
package import HearthAPI
package import Hummingbird
import HummingbirdCore
import JSONRPC
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Hearth's HTTP server: the APIs, watch streams and the routes that other modules add.
///
/// ```swift
/// let server = try HTTPServer(configuration: configuration, context: context, logger: logger) { router, streams in
///     pages.addRoutes(to: router, streams: streams)
/// } onRunning: { port in
///     print("http://127.0.0.1:\(port)")
/// }
/// ```
///
/// It runs until graceful shutdown: it then stops accepting connections, completes the calls in progress, ends the watch streams
/// with an `end` frame, and returns. The store belongs to the caller and stays open.
package struct HTTPServer: Service {
    /// A closure that adds routes. Requests to them pass the same Host and Origin checks, and their responses get the server's
    /// default headers. Their streams count towards the limits of `/watch`.
    package typealias RouteBuilder = (Router<HearthRequestContext>, WatchStreams) -> Void

    private let configuration: HTTPServerConfiguration
    private let context: ServiceContext
    /// The memory limit for request bodies.
    let bodyBudget: BodyBudget
    /// The memory limit for responses.
    let responseBudget: ResponseBudget
    private let connection: ConnectionConfiguration
    private let router: Router<HearthRequestContext>.Responder
    private let streams: WatchStreams
    private let logger: Logger
    private let onRunning: @Sendable (_ port: Int) async -> Void

    /// Creates a server, which listens once ``run()`` is called.
    ///
    /// - Parameters:
    ///   - addRoutes: Adds routes; called once, before the initializer returns.
    ///   - onRunning: Called with the port once the server is listening.
    /// - Throws: ``StatusCode/failedPrecondition`` when the server would be reachable from other machines and there are no keys.
    package init(
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(),
        context: ServiceContext,
        logger: Logger,
        addRoutes: RouteBuilder = { _, _ in },
        onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) throws(StatusError) {
        try configuration.checkHost(hasKeys: context.keys.hasValidKey)
        // A server reachable from other machines requires keys even if all of them are revoked later.
        if !configuration.isLoopback { context.keys.requireKeys() }
        let responseBudget = ResponseBudget(
            limit: configuration.maximumBufferedResponseBytes,
            timeout: configuration.responseMemoryTimeout
        )
        let router = Router(context: HearthRequestContext.self, options: .autoGenerateHeadEndpoints)
        let bodyBudget = BodyBudget(limit: configuration.maximumBufferedBodyBytes)
        Self.addMiddleware(to: router, configuration, context: context, bodyBudget: bodyBudget)
        let streams = WatchStreams(
            slots: WatchSlots(
                limit: configuration.maximumWatchers,
                limitPerAddress: configuration.maximumWatchersPerAddress,
                limitPerKey: configuration.maximumWatchersPerKey,
                activity: context.server.activity
            ),
            logger: logger
        )
        Self.addRoutes(
            to: router,
            configuration,
            context: context,
            responseBudget: responseBudget,
            streams: streams,
            logger: logger
        )
        addRoutes(router, streams)
        self.configuration = configuration
        self.context = context
        self.bodyBudget = bodyBudget
        self.responseBudget = responseBudget
        self.connection = ConnectionConfiguration(
            configuration,
            maximumBodyBytes: context.server.limits.maximumBodyBytes,
            logger: logger
        )
        self.router = router.buildResponder()
        self.streams = streams
        self.logger = logger
        self.onRunning = onRunning
    }

    /// Runs the server until graceful shutdown or until the task is cancelled.
    ///
    /// - Throws: ``StatusCode/unavailable`` when the address can't be bound, for example because the port is in use.
    package func run() async throws {
        let server = Server(
            childChannelSetup: ConnectionChannel(
                HTTP1Channel(
                    responder: ConnectionResponder(router: router, logger: logger, date: connection.date).respond,
                    configuration: .init(
                        idleTimeout: TimeAmount(configuration.idleTimeout),
                        httpDecoderConfiguration: .init(
                            maxHeaderFieldSize: ConnectionConfiguration.maximumHeadBytes,
                            maxHeaderListSize: ConnectionConfiguration.maximumHeadBytes,
                            maxHeaderFieldCount: 100
                        )
                    )
                ),
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
            connection.shutdown.start()
            streams.shutDown()
        }
    }

    /// Logs warnings about insecure configurations.
    private func logAccessWarnings() {
        if !context.keys.areRequired {
            logger.warning(
                """
                The server has no API keys: every program and user on this machine can read and write everything. \
                Create the first key with `hearth keys create --role admin --data DIR`
                """
            )
        } else if !configuration.isLoopback {
            logger.warning(
                "The server is reachable from other machines without TLS. Put a TLS proxy in front to protect keys and documents in transit",
                metadata: ["http.host": "\(configuration.host)"]
            )
        }
    }
}

extension HTTPServer {
    private static func addMiddleware(
        to router: Router<HearthRequestContext>,
        _ configuration: HTTPServerConfiguration,
        context: ServiceContext,
        bodyBudget: BodyBudget
    ) {
        let corsPolicy = CORSPolicy(configuration.allowedOrigins)
        router.addMiddleware {
            LogMiddleware()
            CORSMiddleware(policy: corsPolicy)
            ResponseMiddleware(allowedMethods: [
                ("/rpc", "POST, OPTIONS"),
                ("/watch", "GET, POST, OPTIONS"),
                ("/openrpc.json", "GET, HEAD, OPTIONS"),
                ("/health", "GET, HEAD, OPTIONS"),
                ("/v1/**", "GET, HEAD, POST, PATCH, DELETE, OPTIONS"),
                ("/emulator/v1/**", "DELETE, OPTIONS"),
            ])
            RequestTargetMiddleware()
            HostMiddleware(
                listeningOn: configuration.host,
                allowedHosts: configuration.allowedHosts,
                allowsOwnAddress: configuration.isWildcard
            )
            OriginMiddleware(corsPolicy: corsPolicy)
            ForwardedForMiddleware(proxies: TrustedProxies(configuration.trustedProxies))
            AuthenticationMiddleware(
                keys: context.keys,
                sessions: context.sessions,
                failedAttempts: FailedAttemptLimiter(limit: configuration.maximumFailedAttempts)
            )
            BodyMiddleware(budget: bodyBudget)
        }
    }

    private static func addRoutes(
        to router: Router<HearthRequestContext>,
        _ configuration: HTTPServerConfiguration,
        context: ServiceContext,
        responseBudget: ResponseBudget,
        streams: WatchStreams,
        logger: Logger
    ) {
        let bodyExecutor = BodyExecutor(limit: configuration.maximumConcurrentLargeBodies)
        let rpc = RPCRoute(
            context,
            responseBudget: responseBudget,
            bodyExecutor: bodyExecutor,
            configuration: configuration,
            logger: logger
        )
        router.post("rpc") { request, context in try await rpc.respond(to: request, in: context) }

        let firestore = FirestoreRoute(context, responseBudget: responseBudget, bodyExecutor: bodyExecutor)
        for method in FirestoreRoute.methods {
            router.on("v1/**", method: method) { request, context in try await firestore.respond(to: request, in: context) }
        }
        let clearing = ClearDatabaseRoute(context, isAllowed: configuration.allowsClearing)
        router.delete("emulator/v1/**") { request, context in try await clearing.respond(to: request, in: context) }

        let watch = WatchRoute(service: context, streams: streams)
        router.get("watch") { request, context in try await watch.respond(to: request, in: context) }
        router.post("watch") { request, context in try await watch.respond(to: request, in: context) }
        // The headers of a stream can't be determined without starting it.
        router.head("watch") { _, _ -> Response in throw HTTPError(.notFound) }

        let openRPC = OpenRPCRoute()
        router.get("openrpc.json") { request, _ in openRPC.respond(to: request) }
        let health = HealthRoute(context)
        router.get("health") { _, _ in await health.respond() }
    }
}
