package import DocumentModel
import HTTPTypes
package import HearthService
package import Hummingbird
import HummingbirdCore
import JSONRPC
package import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Hearth's HTTP server: calls, watch streams and whatever pages are added.
///
/// ```swift
/// let server = try HearthServer(configuration: configuration, context: context, logger: logger) { router, streams in
///     pages.addRoutes(to: router, streams: streams)
/// } onRunning: { port in
///     print("http://127.0.0.1:\(port)")
/// }
/// ```
///
/// It runs as a service until it is told to stop gracefully: it then accepts no more connections, finishes the calls that
/// were begun, ends the watch streams with an `end` frame, and returns. The store stays open; it is the caller's.
package struct HearthServer: Service {
    /// Adds routes to the server's own. They stand behind the same checks of Host and Origin, and their responses get those
    /// of the server's headers that they do not set themselves. The streams that they answer with take their room among those
    /// of `/watch`.
    package typealias RouteBuilder = (Router<HearthRequestContext>, WatchStreams) -> Void

    private let configuration: HearthServerConfiguration
    private let context: ServiceContext
    /// The memory for the bodies of requests.
    let bodies: BodyBudget
    /// The memory for the answers to calls.
    let answers: AnswerBudget
    private let connection: ConnectionConfiguration
    private let router: Router<HearthRequestContext>.Responder
    private let streams: WatchStreams
    private let logger: Logger
    private let onRunning: @Sendable (_ port: Int) async -> Void

    /// Makes a server; it listens when it runs.
    ///
    /// - Parameters:
    ///   - addRoutes: Called once, before this returns.
    ///   - onRunning: Called once the server answers, with the port that it listens on.
    /// - Throws: ``StatusCode/failedPrecondition`` when others than this machine would reach the server, and there are no keys.
    package init(
        configuration: HearthServerConfiguration = HearthServerConfiguration(),
        context: ServiceContext,
        logger: Logger,
        addRoutes: RouteBuilder = { _, _ in },
        onRunning: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) throws(StatusError) {
        try configuration.checkHost(hasKeys: context.keys.isAnyValid)
        // Whatever becomes of the keys: others never get to a server that asks for none.
        if !configuration.isLoopback { context.keys.require() }
        let answers = AnswerBudget(limit: configuration.maximumHeldAnswerBytes, wait: configuration.answerWait)
        let router = Router(context: HearthRequestContext.self, options: .autoGenerateHeadEndpoints)
        let bodies = BodyBudget(limit: configuration.maximumHeldBodyBytes)
        Self.addMiddleware(to: router, configuration, context: context, bodies: bodies)
        let streams = WatchStreams(
            slots: WatchSlots(
                limit: configuration.maximumWatchers,
                limitPerAddress: configuration.maximumWatchersPerAddress,
                limitPerKey: configuration.maximumWatchersPerKey,
                activity: context.server.activity
            ),
            logger: logger
        )
        Self.addRoutes(to: router, configuration, context: context, answers: answers, streams: streams, logger: logger)
        addRoutes(router, streams)
        self.configuration = configuration
        self.context = context
        self.bodies = bodies
        self.answers = answers
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

    /// Listens and answers until the service group, or the task, is stopped.
    ///
    /// - Throws: ``StatusCode/unavailable`` when the address can't be listened on, for example because the port is taken.
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
                logAccess()
                await onRunning(channel.localAddress?.port ?? configuration.port)
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger
        )
        try await withGracefulShutdownHandler {
            // Ends with the server, however that ends.
            async let _ = context.keys.follow()
            async let _ = context.sessions.follow()
            async let _ = context.followCommits()
            do {
                try await server.run()
            } catch let error as IOError {
                throw configuration.listeningFailure(error)
            }
        } onGracefulShutdown: {
            connection.shutdown.start()
            streams.shutDown()
        }
    }

    /// Says who may call.
    private func logAccess() {
        if !context.keys.areRequired {
            logger.warning(
                """
                There are no keys: every program and every user of this machine may read and write everything. \
                `hearth keys create --role admin --data DIR` makes the first one, from when on each call needs one
                """
            )
        } else if !configuration.isLoopback {
            logger.warning(
                "Others reach this server without TLS, so keys and documents can be read on the way. Put a proxy with TLS in front",
                metadata: ["http.host": "\(configuration.host)"]
            )
        }
    }
}

extension HearthServer {
    private static func addMiddleware(
        to router: Router<HearthRequestContext>,
        _ configuration: HearthServerConfiguration,
        context: ServiceContext,
        bodies: BodyBudget
    ) {
        let origins = AllowedOrigins(configuration.allowedOrigins)
        router.addMiddleware {
            LogMiddleware()
            OriginHeadersMiddleware(origins: origins)
            ResponseMiddleware(allowedMethods: [
                ("/rpc", "POST, OPTIONS"),
                ("/watch", "GET, POST, OPTIONS"),
                ("/openrpc.json", "GET, HEAD, OPTIONS"),
                ("/health", "GET, HEAD, OPTIONS"),
                ("/v1/**", "GET, HEAD, POST, PATCH, DELETE, OPTIONS"),
                ("/emulator/v1/**", "DELETE, OPTIONS"),
            ])
            TargetMiddleware()
            HostMiddleware(
                listeningOn: configuration.host,
                others: configuration.allowedHosts,
                allowsOwnAddress: configuration.isWildcard
            )
            OriginMiddleware(origins: origins)
            ForwardingMiddleware(proxies: TrustedProxies(configuration.trustedProxies))
            AuthenticationMiddleware(
                keys: context.keys,
                sessions: context.sessions,
                failures: FailedAttempts(limit: configuration.maximumFailedAttempts)
            )
            BodyMiddleware(budget: bodies)
        }
    }

    private static func addRoutes(
        to router: Router<HearthRequestContext>,
        _ configuration: HearthServerConfiguration,
        context: ServiceContext,
        answers: AnswerBudget,
        streams: WatchStreams,
        logger: Logger
    ) {
        let largeBodies = LargeBodies(limit: configuration.maximumLargeBodies)
        let calls = RPCRoute(
            context,
            answers: answers,
            largeBodies: largeBodies,
            configuration: configuration,
            logger: logger
        )
        router.post("rpc") { request, context in try await calls.respond(to: request, in: context) }

        let firestore = FirestoreRoute(context, answers: answers, largeBodies: largeBodies)
        for method in FirestoreRoute.methods {
            router.on("v1/**", method: method) { request, context in try await firestore.respond(to: request, in: context) }
        }
        let clearing = FirestoreClearingRoute(context, isAllowed: configuration.allowsClearing)
        router.delete("emulator/v1/**") { request, context in try await clearing.respond(to: request, in: context) }

        let watch = WatchRoute(service: context, streams: streams)
        router.get("watch") { request, context in try await watch.respond(to: request, in: context) }
        router.post("watch") { request, context in try await watch.respond(to: request, in: context) }
        // Nothing of a stream can be told without beginning it.
        router.head("watch") { _, _ -> Response in throw HTTPError(.notFound) }

        let description = DescriptionRoute()
        router.get("openrpc.json") { request, _ in description.respond(to: request) }
        let health = HealthRoute(context)
        router.get("health") { _, _ in await health.respond() }
    }
}
