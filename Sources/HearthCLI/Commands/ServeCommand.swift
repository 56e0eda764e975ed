import ArgumentParser
import CoreMetrics
import DocumentModel
import DocumentStore
import FileStore
import FirestoreGRPC
import FirestoreREST
import Foundation
import HearthAPI
import HearthAdmin
import HearthHTTP
import IdentityTokens
import Logging
import PrometheusMetrics
import ServiceLifecycle
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

    @Option(help: ArgumentHelp("Data folder; created if it doesn't exist.", valueName: "dir"))
    var data = "data"

    @Option(help: "Address to listen on. For 127.0.0.1 or localhost, also ::1.")
    var host = "127.0.0.1"

    @Option(help: "Port to listen on; 0 selects a free port.")
    var port = 8080

    @Option(
        help: ArgumentHelp(
            "Host name to accept in requests, such as that of a reverse proxy. May be repeated.",
            valueName: "name"
        )
    )
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "Origin to allow for cross-origin requests, such as https://app.example.org. May be repeated.",
            valueName: "origin"
        )
    )
    var corsOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Address or network (such as 10.0.0.0/8) of a proxy whose X-Forwarded-For and X-Forwarded-Proto headers are trusted. May be \
            repeated.
            """,
            valueName: "address"
        ),
        transform: Self.addressRange
    )
    var trustedProxy: [CIDRBlock] = []

    @Option(
        help: ArgumentHelp(
            "Project of the default database and of databases named without a project.",
            valueName: "id"
        )
    )
    var project = DatabaseID.standard.project.string

    @Flag(
        help: """
            Allow DELETE /emulator/v1/projects/P/databases/D/documents, which deletes all documents of a database, as in the \
            Firestore emulator. For test servers.
            """
    )
    var allowClearing = false

    @Option(
        help: ArgumentHelp(
            "HTTP status of responses to JSON-RPC notifications: 204, or 200 for clients that treat 204 as a failure.",
            valueName: "status"
        )
    )
    var notificationStatus = 204

    @Option(help: ArgumentHelp("Folder that contains Templates and Public; found automatically by default.", valueName: "dir"))
    var assets: String?

    @OptionGroup(title: "TLS") var tls: ServeTLSOptions

    @OptionGroup(title: "Backups") var backup: ServeBackupOptions

    @OptionGroup(title: "End users") var authentication: ServeAuthenticationOptions

    @OptionGroup(title: "Limits") var limits: ServeLimitOptions

    /// The maximum time to wait for pending requests at shutdown.
    private static let shutdownTimeout = Duration.seconds(10)

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535.") }
        for name in allowHost {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isHostCharacter) else {
                throw ValidationError("--allow-host: \(Excerpt(name)) is not a host name such as data.example.org.")
            }
        }
        guard [200, 204].contains(notificationStatus) else { throw ValidationError("--notification-status must be 200 or 204.") }
        do throws(StatusError) {
            _ = try defaultDatabase
        } catch {
            throw ValidationError(error.message)
        }
        guard !host.isEmpty else { throw ValidationError("--host must be an address, such as 127.0.0.1.") }
        for origin in corsOrigin where !Self.isOrigin(origin) {
            throw ValidationError(
                "--cors-origin: \(Excerpt(origin)) is not an origin, which is a scheme and a host without a path, "
                    + "such as https://app.example.org."
            )
        }
    }

    private static func addressRange(_ text: String) throws -> CIDRBlock {
        guard let range = CIDRBlock(text) else {
            throw ValidationError(
                "--trusted-proxy: \(Excerpt(text)) is neither an IP address, such as 127.0.0.1, nor a network, such as 10.0.0.0/8."
            )
        }
        return range
    }

    /// Returns whether the text has the form `http://host[:port]` or `https://host[:port]`.
    private static func isOrigin(_ text: String) -> Bool {
        ["http://", "https://"].contains { scheme in
            let host = text.utf8.dropFirst(scheme.utf8.count)
            return text.utf8.starts(with: scheme.utf8) && !host.isEmpty && host.allSatisfy(\.isHostCharacter)
        }
    }

    func run() async throws {
        // Before the server is created, which derives its connection limit from the limit on open files.
        OpenFileLimit.raise()
        // A server outlives the terminal that it was started from. The signal reloads the certificate; all else that can change is
        // followed.
        signal(SIGHUP, SIG_IGN)
        let log = RecentLog()
        let logger = Logger(label: "hearth") { MultiplexLogHandler([LogOutput.handler(label: $0), log.handler]) }
        // Not to the log that clients can read, since it has the path of the data folder.
        let processLogger = Logger(label: "hearth") { LogOutput.handler(label: $0) }
        let manager = ServiceManager()
        await manager?.notify(.status("Recovering the data folder"))
        let process: Logger.Metadata = [
            "process.id": "\(getpid())", "server.version": "\(ServerDescription.version)",
            "store.folder": "\(URL(filePath: data).standardizedFileURL.path(percentEncoded: false))",
        ]
        processLogger.notice("Starting Hearth", metadata: process)
        do {
            try await serve(log: log, logger: logger, manager: manager)
            processLogger.notice("Stopped Hearth", metadata: process)
        } catch {
            processLogger.error("Stopped Hearth after an error", metadata: process.merging(["error": "\(error)"]) { $1 })
            throw error
        }
    }

    private func serve(log: RecentLog, logger: Logger, manager: ServiceManager?) async throws {
        let assets = try AssetLocation.find(explicit: assets)
        let authentication = try await ServeAuthentication(authentication, logger: logger)
        let tls = try ServeTLS(self.tls, logger: logger)
        try await checkHost(logger: logger)
        let metrics = ServerMetrics()
        MetricsSystem.bootstrap(PrometheusMetricsFactory(metrics.registry))
        var configuration = FileStoreConfiguration(folder: data)
        configuration.observer = metrics.store
        limits.apply(to: &configuration)
        let backupFolder = try await backup.openFolder(outside: data)
        let host = try await FileStoreHost.open(configuration, backupFolder: backupFolder, logger: logger)
        do {
            let keys = try await APIKeyRegistry.open(.open(.keys, inFolder: data), logger: logger)
            let rules = RulesRegistry(
                isEmulator: self.authentication.emulator,
                logger: logger,
                onRules: { [isEmulator = self.authentication.emulator] in if !isEmulator { keys.requireKeys() } },
                files: { id throws(StatusError) in try await RulesFiles(of: id, in: host) }
            )
            if !authentication.issuers.all.isEmpty { keys.requireKeys() }
            try authentication.loadRules(in: rules)
            let databases = try await DatabaseRegistry.open(
                defaultID: defaultDatabase,
                of: host,
                limit: limits.openDatabases,
                rules: rules,
                logger: logger
            )
            do {
                let context = ServiceContext(
                    store: host.defaultStore,
                    server: ServerDescription(log: log, metrics: metrics),
                    keys: keys,
                    endUsers: authentication.endUsers,
                    rulesRegistry: rules,
                    rules: try await rules.rules(of: defaultDatabase, isDefault: true),
                    databases: databases
                )
                try await serve(context, authentication, tls, assets: assets, logger: logger, manager: manager)
            } catch {
                _ = await databases.close()
                throw error
            }
            if let failure = await databases.close() { throw failure }
        } catch {
            await host.close()
            throw error
        }
        if let failure = await host.close() { throw failure }
    }

    private var defaultDatabase: DatabaseID {
        get throws(StatusError) { try DatabaseID(project: UTF8Key(project)) }
    }

    /// Rejects an address that other machines can reach if everybody could do everything, before the data folder is created.
    private func checkHost(logger: Logger) async throws(StatusError) {
        guard !authentication.emulator else { return try configuration.checkEmulatorHost() }
        var hasKeys = authentication.limitsAccess || FileManager.default.fileExists(atPath: data + "/firestore.rules")
        do throws(StatusError) {
            hasKeys =
                try await APIKeyRegistry.open(.open(.keys, inFolder: data), logger: logger).hasValidKey || hasKeys
        } catch {
            guard error.code == .notFound else { throw error }
        }
        try configuration.checkHost(hasKeys: hasKeys)
        try configuration.checkProxies(hasKeys: hasKeys)
    }

    private func serve(
        _ context: ServiceContext,
        _ authentication: ServeAuthentication,
        _ tls: ServeTLS?,
        assets: AssetLocation,
        logger: Logger,
        manager: ServiceManager?
    ) async throws {
        let pages = AdminPages(context: context, assets: try PageAssets(assets), uploadFolder: data, logger: logger)
        let modules: [any RouteModule] = [
            APIModule(context), FirestoreRESTModule(context, allowsClearing: allowClearing), FirestoreGRPCModule(context),
            AdminModule(pages),
        ]
        var configuration = configuration
        configuration.certificate = tls?.certificate
        let server = try HTTPServer(
            configuration: configuration,
            context: context,
            modules: modules,
            logger: logger
        ) { [host] port in
            Self.announce(scheme: tls == nil ? "http" : "https", host: host, port: port)
            await manager?.notify(.ready)
        }
        // Services stop in reverse order: background jobs end after the server, when no new ones can be started.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: AdminPagesService(pages: pages)),
            .init(service: ServeAuthenticationService(authentication, rules: context.rulesRegistry)),
        ]
        if let tls { services.append(.init(service: tls)) }
        if let databases = context.databases {
            if let archiving = JournalArchiving(backup, databases, logger: logger) { services.append(.init(service: archiving)) }
            if let schedule = BackupSchedule(backup, databases) { services.append(.init(service: schedule)) }
        }
        services.append(.init(service: server))
        if let manager { services.append(.init(service: ServiceManagerService(manager: manager, context: context))) }
        var group = ServiceGroupConfiguration(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = Self.shutdownTimeout
        async let _ = WarmUp.run(in: context, logger: logger)
        try await ServiceGroup(configuration: group).run()
    }

    private var configuration: HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.allowedHosts = allowHost
        configuration.allowedOrigins = corsOrigin
        configuration.trustedProxies = trustedProxy
        configuration.notificationStatus = notificationStatus == 200 ? .ok : .noContent
        limits.apply(to: &configuration)
        return configuration
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

extension UInt8 {
    /// True if the byte can occur in a `Host` header: in a name, an address or a port.
    fileprivate var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        case UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
        default: isDigit
        }
    }
}
