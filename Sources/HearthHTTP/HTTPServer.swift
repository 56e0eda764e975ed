package import DocumentModel
import HTTPTypes
package import HearthAPI
import HummingbirdCore
import JSONRPC
package import Logging
import NIOCore
import NIOPosix
import PrometheusMetrics
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
        if context.rulesRegistry.isEmulator {
            try configuration.checkEmulatorHost()
        } else {
            try configuration.checkHost(hasKeys: context.limitsAccess)
        }
        // A server reachable from other machines requires keys even if all of them are revoked later.
        if !configuration.isLoopback { context.keys.requireKeys() }
        let resources = ServerResources(configuration, context: context, logger: logger)
        self.configuration = configuration
        self.context = context
        let allowsLoopbackOrigins = resources.authenticator.endUsers.acceptsUnsignedTokens
        self.connection = ConnectionConfiguration(
            configuration,
            policy: RequestPolicy(configuration, allowsLoopbackOrigins: allowsLoopbackOrigins),
            maximumBodyBytes: context.server.limits.maximumBodyBytes,
            logger: logger
        )
        self.routes = RouteTable(
            modules.flatMap { $0.routes(using: resources) },
            unlistedPages: modules.lazy.compactMap { $0.unlistedPages(using: resources) }.first
        )
        let registry = context.server.metrics.registry
        context.declareStandbyMetrics()
        context.declareEngineMetrics()
        LimitMetrics.declare(in: registry, connection, resources, context.server.metrics.store.queues)
        // Not the context, which retains the registry.
        let (rules, activity) = (context.rulesRegistry, context.server.activity)
        registry.sampled("hearth_rules_decisions_total", "Decisions of security rules, by result.", .counter) {
            let (allowed, denied) = rules.decisionCounts
            return [.init(["result": "allowed"], Double(allowed)), .init(["result": "denied"], Double(denied))]
        }
        registry.sampledValue("hearth_listen_targets", "Targets of the open watch streams that may have several.") {
            Double(activity.listenTargetCount)
        }
        context.server.slowCalls.threshold = configuration.slowCallTime
        self.responder = RequestResponder(
            policy: connection.policy,
            authenticator: resources.authenticator,
            callRates: resources.callRates,
            queueTime: context.server.limits.queueTime,
            queues: context.server.metrics.store.queues,
            bodyBudget: resources.bodyBudget,
            isLoopback: configuration.isLoopback,
            metrics: HTTPMetrics(registry, routes: routes),
            activity: context.server.activity,
            freshness: context.server.standby.map(Freshness.init)
        )
        self.resources = resources
        self.logger = logger
        self.onRunning = onRunning
    }

    /// Runs the server until graceful shutdown or until the task is cancelled.
    ///
    /// - Throws: ``StatusCode/unavailable`` when the address cannot be bound, for example because the port is in use.
    package func run() async throws {
        try await withGracefulShutdownHandler {
            // Cancelled when the server ends.
            async let _ = context.keys.runMaintenance()
            async let _ = context.rulesRegistry.runMaintenance()
            async let _ = context.sessions.runMaintenance()
            async let _ = context.databases?.runMaintenance()
            async let _ = context.runCommitRateSampling()
            async let _ = context.runMetricsSampling()
            async let _ = resources.streams.runTasks()
            do {
                try await listen()
            } catch let error as IOError {
                throw configuration.bindError(error)
            }
        } onGracefulShutdown: {
            logger.notice("Shutting down: completing requests and ending streams")
            connection.shutdown.start()
            resources.streams.shutDown()
        }
    }

    /// Accepts connections until graceful shutdown, on ``HTTPServerConfiguration/listeningAddress`` and, if there is one, on
    /// ``HTTPServerConfiguration/secondAddress``, with the same port and the same limits.
    private func listen() async throws {
        let address = configuration.listeningAddress
        guard let secondAddress = configuration.secondAddress else {
            try await listener(on: address, port: configuration.port) { await announce(port: $0) }.run()
            return
        }
        let (ports, port) = AsyncStream<Int>.makeStream()
        // Cancelled when the first listener fails.
        async let second: Void = {
            guard let port = await ports.first(where: { _ in true }) else { return }
            await listen(onSecond: secondAddress, port: port)
        }()
        try await listener(on: address, port: configuration.port) { port.yield($0) }.run()
        if Task.isShuttingDownGracefully { await second }
    }

    /// Accepts connections on the second address. A failure to bind it is a warning, since the server is reachable by the first one.
    private func listen(onSecond address: String, port: Int) async {
        do {
            try await listener(on: address, port: port) { await announce(port: $0) }.run()
        } catch {
            logger.warning(
                "Cannot listen on both loopback addresses: clients that try the missing one for localhost do not reach this server",
                metadata: ["server.address": "\(address)", "server.port": "\(port)", "error": "\(error)"]
            )
            await announce(port: port)
        }
    }

    private func listener(
        on address: String,
        port: Int,
        onListening: @escaping @Sendable (_ port: Int) async -> Void
    ) -> Server<ConnectionChannel> {
        Server(
            childChannelSetup: ConnectionChannel(
                ConnectionResponder(
                    routes: routes,
                    responder: responder,
                    logger: logger,
                    date: connection.date,
                    accessLog: accessLog,
                    tracer: configuration.tracer,
                    tracesRequests: !accessLog.isOff || context.server.audit != nil || configuration.tracer != nil
                ),
                configuration: connection
            ),
            configuration: ServerConfiguration(address: .hostname(address, port: port)),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? port) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger
        )
    }

    private var accessLog: AccessLog {
        AccessLog(
            logger: configuration.accessLogger,
            slowCallLogger: logger,
            slowCalls: context.server.slowCalls,
            slowCallTime: configuration.slowCallTime
        )
    }

    private func announce(port: Int) async {
        logAccessWarnings()
        await onRunning(port)
    }

    /// Logs warnings about insecure configurations.
    private func logAccessWarnings() {
        if context.rulesRegistry.isEmulator {
            logger.warning("The server is in emulator mode: every program and user on this machine can read and write everything")
        } else if !context.keys.requiresKeys {
            logger.warning(
                """
                The server has no API keys: every program and user on this machine can read and write everything. \
                Create the first key with `hearth keys create --role admin --data DIR`, or --engine URL
                """
            )
        } else if !configuration.isLoopback, configuration.certificate == nil {
            logger.warning(
                """
                The server is reachable from other machines without TLS. Pass --tls-certificate and --tls-key, or put a proxy with \
                TLS in front, to protect keys and documents in transit
                """,
                metadata: ["server.address": "\(configuration.host)"]
            )
        }
    }
}

extension HTTPServer {
    /// Waits until each event loop of the server has run: for ever if one of them hangs.
    package static func waitForEventLoops() async {
        for eventLoop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
            try? await eventLoop.submit {}.get()
        }
    }
}

extension HTTPServer {
    /// Verifies a configuration that is to be applied to the running server.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` if the server would be reachable through a proxy and has no keys.
    package func check(_ configuration: HTTPServerConfiguration) throws(StatusError) {
        if context.rulesRegistry.isEmulator {
            try configuration.checkEmulatorHost()
        } else {
            try configuration.checkProxies(hasKeys: context.limitsAccess)
        }
    }

    /// Applies what a running server can change of its configuration: allowed hosts and origins, trusted proxies, and the limits on
    /// watch streams and on the rate of calls. Requests and streams that have begun are not affected.
    package func apply(_ configuration: HTTPServerConfiguration) {
        connection.policy.value = RequestPolicy(
            configuration,
            allowsLoopbackOrigins: resources.authenticator.endUsers.acceptsUnsignedTokens
        )
        resources.streams.slots.limits = WatchSlots.Limits(configuration)
        resources.callRates.set(CallRateLimiter.Rates(configuration))
    }
}

extension ServiceContext {
    /// True if there are keys or end users, so that not everyone may do everything.
    fileprivate var limitsAccess: Bool { keys.hasValidKey || rulesRegistry.hasRules || endUsers.authority != nil }
}
