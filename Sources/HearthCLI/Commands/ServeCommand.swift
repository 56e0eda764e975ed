import ArgumentParser
import CoreMetrics
import Cryptography
import DocumentModel
import DocumentStore
import FileStore
import FirestoreGRPC
import FirestoreREST
import Foundation
import HearthAPI
import HearthAdmin
import HearthHTTP
import HearthTransport
import IdentityTokens
import Logging
import PostgresStore
import PrometheusMetrics
import ServiceLifecycle
import StorageIO
import Synchronization
import UTF8Text
import UnixSignals

/// `hearth serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Start the server.",
        discussion: """
            Prints its URL to standard output when it is ready, and logs to standard error. On SIGTERM or SIGINT, finishes \
            pending requests, closes streams and exits.

            Once API keys have been created (`hearth keys`), every request requires one. Without keys, anyone who can reach the \
            address can read and write, so the server listens on loopback addresses only. Once there are security rules, in a file \
            firestore.rules of the data folder or given by --rules, callers without a key are end users: rules decide what they \
            may do. The Host header of a request must be \
            the address of the server, localhost, or a name given with --allow-host.
            """
    )

    @OptionGroup var options: ServeOptions

    /// The maximum time to wait for pending requests at shutdown.
    private static let shutdownTimeout = Duration.seconds(10)

    func run() async throws {
        options.groupAccess.apply()
        // Before the server is created, which derives its connection limit from the limit on open files.
        OpenFileLimit.raise()
        // A server outlives the terminal that it was started from. The signal reloads the configuration.
        signal(SIGHUP, SIG_IGN)
        // A closed standard error must not stop it either.
        signal(SIGPIPE, SIG_IGN)
        let metrics = ServerMetrics()
        let log = ServerLog(options.log, metrics: metrics.log)
        defer { log.close() }
        let manager = ServiceManager()
        var process: Logger.Metadata = ["process.id": "\(getpid())", "server.version": "\(ServerDescription.version)"]
        if let engine = options.engine {
            await manager?.notify(.status("Connecting to the engine"))
            process["store.engine"] = "\(try EngineAddress(engine).description)"
        } else {
            await manager?.notify(.status("Recovering the data folder"))
            process["store.folder"] = "\(URL(filePath: options.data).standardizedFileURL.path(percentEncoded: false))"
        }
        log.processLogger.notice("Starting Hearth", metadata: process)
        do {
            let audit = try options.log.openAuditLog(logger: log.logger)
            await audit?.recordDurably(AuditEvent(.startServer, on: ServerDescription.version, by: .system))
            let port = try await serve(log: log, metrics: metrics, audit: audit, manager: manager)
            await audit?.recordDurably(AuditEvent(.stopServer, by: .system))
            log.processLogger.notice("Stopped Hearth", metadata: process)
            guard let port else { return }
            log.processLogger.notice("Restarting, to go on with another state of the data folder", metadata: process)
            log.close()
            try ProcessRestart.restart(port: port)
        } catch {
            log.processLogger.error("Stopped Hearth after an error", metadata: process.merging(["error": "\(error)"]) { $1 })
            throw error
        }
    }

    /// Serves until the server is told to stop.
    ///
    /// - Returns: The port on which a standby that has to restart has listened; `nil` for all others.
    private func serve(log: ServerLog, metrics: ServerMetrics, audit: AuditLog?, manager: ServiceManager?) async throws -> Int? {
        let logger = log.logger
        let standby = try await StandbyStart.prepare(
            options.standby,
            data: options.data,
            defaultDatabase: options.defaultDatabase,
            logger: logger
        )
        let status = standby.map { StandbyStatus(primary: $0.primary.description) }
        let assets = try AssetLocation.find(explicit: options.assets)
        // Before the clients are created that it traces.
        let traces = try ServeTraces(options.trace, metrics: metrics.traces, logger: logger)
        let authentication = try await ServeAuthentication(options.authentication, logger: logger)
        let tls = try ServeTLS(options.tls, logger: logger)
        if options.engine == nil { try checkHost(limitsAccess: await ServeDriver.limitsAccess(inFolder: options.data)) }
        MetricsSystem.bootstrap(PrometheusMetricsFactory(metrics.registry))
        let editRules = EditRules(defaultDatabase: try options.defaultDatabase)
        let driver = try await ServeDriver.open(
            options,
            primary: status?.primary,
            editRules: editRules,
            metrics: metrics.store,
            logger: logger
        )
        let host = driver.host
        let restart: (transition: Standby.Transition, port: Int)?
        do {
            if options.engine != nil { try checkHost(limitsAccess: await driver.limitsAccess) }
            let keys = try await APIKeyRegistry.open(
                driver.keys,
                logger: logger,
                onChange: { change in
                    for (detail, ids) in [("created", change.created), ("revoked", change.revoked)] {
                        for id in ids { audit?.record(AuditEvent(.changeKeys, on: id.string, detail: detail, by: .system)) }
                    }
                }
            )
            let rules = RulesRegistry(
                isEmulator: options.authentication.emulator,
                logger: logger,
                onRules: { [isEmulator = options.authentication.emulator] in if !isEmulator { keys.requireKeys() } },
                files: driver.rulesFiles
            )
            if !authentication.issuers.all.isEmpty { keys.requireKeys() }
            try authentication.loadRules(in: rules)
            editRules.use(rules)
            let issuer = TransactionIDIssuer(secret: driver.secret.derived(for: "transactions"))
            let databases = try await DatabaseRegistry.open(
                defaultID: options.defaultDatabase,
                of: host,
                limit: options.limits.openDatabases,
                rules: rules,
                issuer: issuer,
                primary: status?.primary,
                logger: logger,
                backupMetrics: metrics.backups
            )
            do {
                let context = ServiceContext(
                    store: host.defaultStore,
                    server: ServerDescription(
                        limits: options.limits.calls,
                        log: log.recent,
                        metrics: metrics,
                        audit: audit,
                        standby: status
                    ),
                    transactions: TransactionRegistry(issuer: issuer),
                    keys: keys,
                    sessions: driver.sessions.map { SessionRegistry(keys: keys, sharedIn: $0, logger: logger) },
                    endUsers: authentication.endUsers,
                    rulesRegistry: rules,
                    rules: try await rules.rules(of: options.defaultDatabase, isDefault: true),
                    databases: databases
                )
                let following = try standby.map { start throws(StatusError) in
                    try StandbyService(of: context, start, logger: logger)
                }
                restart = try await serve(
                    context,
                    driver,
                    authentication,
                    tls,
                    following,
                    traces,
                    assets: assets,
                    log: log,
                    manager: manager
                )
            } catch {
                _ = await databases.close()
                throw error
            }
            if let failure = await databases.close() { throw failure }
        } catch {
            await driver.close()
            throw error
        }
        if let failure = await driver.close() { throw failure }
        if case .branch(let branch)? = restart?.transition { try await host.replication?.beginBranch(branch, of: nil) }
        return restart?.port
    }

    /// Rejects an address that other machines can reach if everybody could do everything, before a data folder is created.
    ///
    /// - Parameter limitsAccess: True if there are keys or rules.
    private func checkHost(limitsAccess: Bool) throws(StatusError) {
        let configuration = options.http
        guard !options.authentication.emulator else { return try configuration.checkEmulatorHost() }
        let hasKeys = options.authentication.limitsAccess || limitsAccess
        try configuration.checkHost(hasKeys: hasKeys)
        try configuration.checkProxies(hasKeys: hasKeys)
    }

    private func serve(
        _ context: ServiceContext,
        _ driver: ServeDriver,
        _ authentication: ServeAuthentication,
        _ tls: ServeTLS?,
        _ standby: StandbyService?,
        _ traces: ServeTraces?,
        assets: AssetLocation,
        log: ServerLog,
        manager: ServiceManager?
    ) async throws -> (Standby.Transition, port: Int)? {
        let logger = log.logger
        let pages = AdminPages(
            context: context,
            assets: try PageAssets(assets),
            uploadFolder: options.data,
            sharedJobs: driver.jobs.map { SharedJobs(in: $0, logger: logger) },
            formSecret: driver.secret.derived(for: "forms"),
            logger: logger
        )
        pages.allowImages(from: options.imageOrigin)
        var modules: [any RouteModule] = [
            APIModule(context), FirestoreRESTModule(context, allowsClearing: options.allowClearing), FirestoreGRPCModule(context),
            AdminModule(pages),
        ]
        if let forwarding = driver.forwarding { modules.append(forwarding.module) }
        var configuration = options.http
        configuration.certificate = tls?.certificate
        options.log.apply(to: &configuration, accessLogger: log.accessLogger)
        configuration.tracer = traces?.tracer
        let listening = Mutex(options.port)
        let server = try HTTPServer(
            configuration: configuration,
            context: context,
            modules: modules,
            logger: logger
        ) { [host = options.host, forwarding = driver.forwarding] port in
            listening.withLock { $0 = port }
            forwarding?.start(listeningOn: port)
            Self.announce(scheme: tls == nil ? "http" : "https", host: host, port: port)
            await manager?.notify(.ready)
        }
        // Services stop in reverse order: background jobs end after the server, when no new ones can be started.
        let signals = SecondSignalService(log: log)
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(log),
            // Stops last, and sees a second signal until then.
            .init(signals),
            .init(AdminPagesService(pages: pages)),
            .init(try await ActivityService(context, data: options.data, logger: logger)),
            .init(ServeAuthenticationService(authentication, rules: context.rulesRegistry)),
        ]
        // After the server, whose last requests it exports.
        if let traces { services.append(.init(traces)) }
        if let tls { services.append(.init(tls)) }
        if let databases = context.databases {
            if let archiving = JournalArchiving(options.backup, databases, logger: logger) {
                services.append(.init(archiving))
            }
            if let schedule = BackupSchedule(options.backup, databases) { services.append(.init(schedule)) }
        }
        services.append(.init(server))
        let drainTime = Duration.seconds(options.drainSeconds)
        services.append(.init(DrainService(duration: drainTime, activity: context.server.activity, logger: logger)))
        let metrics = context.server.metrics.configuration
        let reload = ConfigurationReload(
            options,
            server: server,
            pages: pages,
            tls: tls,
            manager: manager,
            metrics: metrics,
            logger: logger
        )
        services.append(.init(reload))
        if let manager {
            services.append(
                .init(ServiceManagerService(manager: manager, context: context) { standby?.transition != nil })
            )
        }
        if let standby {
            services.append(.init(standby, successTerminationBehavior: .gracefullyShutdownGroup))
        }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = Self.shutdownTimeout + drainTime
        async let _ = WarmUp.run(in: context, logger: logger)
        try await ServiceGroup(configuration: group).run()
        guard let transition = standby?.transition, !signals.wasToldToStop else { return nil }
        // From here on, a signal ends the process at once, which the next start recovers from.
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
        return (transition, listening.withLock { $0 })
    }

    /// Prints the URL of the server on one line.
    private static func announce(scheme: String, host: String, port: Int) {
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        let line = "\(scheme)://\(isIPv6 ? "[\(host)]" : host):\(port)\n"
        // Standard output may be closed.
        try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }
}

/// Runs the maintenance of the admin pages, and stops their background jobs when the server shuts down.
private struct AdminPagesService: Service {
    let pages: AdminPages

    func run() async throws {
        await cancelWhenGracefulShutdown { await pages.runMaintenance() }
        await pages.shutDown()
    }
}

extension ServiceGroupConfiguration.ServiceConfiguration {
    /// Creates the configuration of a service that is named by its type. By default, the name is a description of all that the service
    /// refers to.
    fileprivate init(
        _ service: any Service,
        successTerminationBehavior: TerminationBehavior = .cancelGroup
    ) {
        self.init(service: service, successTerminationBehavior: successTerminationBehavior, serviceName: "\(type(of: service))")
    }
}
