import ArgumentParser
import DocumentModel
import DocumentStore
import Foundation
import HearthAdmin
import HearthServer
import HearthService
import Logging
import ServiceLifecycle
import StrictJSON
import UnixSignals

/// `hearth serve`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a data folder.",
        discussion: """
            Prints its address on standard output as soon as it answers, and logs to standard error. SIGTERM and SIGINT stop \
            it: calls under way are finished, streams ended.

            Once there are keys (`hearth keys`), every request needs one. Without keys, whoever can reach the address can read \
            and write, so it must be one of this machine only. Requests must call the server by its address, by localhost, or by \
            a name given with --allow-host.
            """
    )

    @Option(help: ArgumentHelp("The data folder; it is made when it doesn't exist.", valueName: "dir"))
    var data = "data"

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 lets the system pick one.")
    var port = 8080

    @Option(
        help: ArgumentHelp("A name that requests may call the server by, such as a proxy's. May be repeated.", valueName: "name")
    )
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "An origin of other pages that may call, such as https://app.example.org. May be repeated.",
            valueName: "origin"
        )
    )
    var corsOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "The address of a proxy, or a network such as 10.0.0.0/8, whose X-Forwarded-For is believed. May be repeated.",
            valueName: "address"
        ),
        transform: Self.addressRange
    )
    var trustedProxy: [AddressRange] = []

    @Option(
        help: ArgumentHelp(
            "The project that the default database belongs to, and the databases that are named without one.",
            valueName: "id"
        )
    )
    var project = DatabaseID.standard.project.string

    @Flag(
        help: """
            Let DELETE /emulator/v1/projects/P/databases/D/documents delete all documents of a database at once, as tests against Firestore's \
            emulator do between each other.
            """
    )
    var allowClearing = false

    @Option(
        help: ArgumentHelp(
            "The status that notifications are answered with: 204, or 200 for clients that take 204 for a failure.",
            valueName: "status"
        )
    )
    var notificationStatus = 204

    @Option(help: ArgumentHelp("The folder with Templates and Public, where it isn't found by itself.", valueName: "dir"))
    var assets: String?

    @OptionGroup(title: "Limits") var limits: ServeLimits

    /// How long calls that are under way may keep the server from stopping.
    private static let shutdownLimit = Duration.seconds(10)

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("A port is a number from 0 to 65535.") }
        for name in allowHost {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isPartOfHost) else {
                throw ValidationError("\(Excerpt(name)) is not the name of a host; expected one such as data.example.org.")
            }
        }
        guard [200, 204].contains(notificationStatus) else { throw ValidationError("--notification-status is 200 or 204.") }
        do throws(StatusError) {
            _ = try defaultDatabase
        } catch {
            throw ValidationError(error.message)
        }
        guard !host.isEmpty else { throw ValidationError("Expected the address to listen on, such as 127.0.0.1.") }
        for origin in corsOrigin where !Self.isOrigin(origin) {
            throw ValidationError(
                "\(Excerpt(origin)) is not an origin; expected a scheme and a host, and nothing behind them, such as https://app.example.org."
            )
        }
    }

    private static func addressRange(_ text: String) throws -> AddressRange {
        guard let range = AddressRange(text) else {
            throw ValidationError(
                "\(Excerpt(text)) is not an IP address; expected one such as 127.0.0.1, or a network such as 10.0.0.0/8."
            )
        }
        return range
    }

    /// Whether a text is `http://host[:port]` or `https://host[:port]`.
    private static func isOrigin(_ text: String) -> Bool {
        ["http://", "https://"].contains { scheme in
            let host = text.utf8.dropFirst(scheme.utf8.count)
            return text.utf8.starts(with: scheme.utf8) && !host.isEmpty && host.allSatisfy(\.isPartOfHost)
        }
    }

    func run() async throws {
        // As many connections as the system allows, which is read when the server is made.
        OpenFileLimit.raise()
        let log = RecentLog()
        let logger = Logger(label: "hearth") { MultiplexLogHandler([LogOutput.handler(label: $0), log.handler]) }
        let assets = try AssetLocation.find(explicit: assets)
        try await checkHost(logger: logger)
        var configuration = FileStoreConfiguration(folder: data)
        limits.apply(to: &configuration)
        let store = try await FileStore.open(configuration, logger: logger)
        do {
            let databases = try await Databases.open(
                besides: defaultDatabase,
                configuration,
                limit: limits.openDatabases,
                logger: logger
            )
            do {
                try await serve(store, databases, assets: assets, log: log, logger: logger)
            } catch {
                _ = await databases.close()
                throw error
            }
            if let failure = await databases.close() { throw failure }
        } catch {
            await store.close()
            throw error
        }
        if let failure = await store.close() { throw failure }
    }

    private var defaultDatabase: DatabaseID {
        get throws(StatusError) { try DatabaseID(project: UTF8Key(project)) }
    }

    /// Refuses an address that others reach, before a data folder is made that has no keys.
    private func checkHost(logger: Logger) async throws(StatusError) {
        var hasKeys = false
        do throws(StatusError) {
            hasKeys = try await AccessKeys.open(inFolder: data, logger: logger).isAnyValid
        } catch {
            guard error.code == .notFound else { throw error }
        }
        try configuration.checkHost(hasKeys: hasKeys)
        try configuration.checkProxies(hasKeys: hasKeys)
    }

    private func serve(
        _ store: FileStore,
        _ databases: Databases,
        assets: AssetLocation,
        log: RecentLog,
        logger: Logger
    ) async throws {
        let context = ServiceContext(
            store: store,
            server: ServerDescription(log: log),
            keys: try await AccessKeys.open(inFolder: data, logger: logger),
            databases: databases
        )
        let pages = AdminPages(context: context, assets: try PageAssets(assets), uploadFolder: data, logger: logger)
        let server = try HearthServer(configuration: configuration, context: context, logger: logger) { router, streams in
            pages.addRoutes(to: router, streams: streams)
        } onRunning: { [host] port in
            Self.announce(host: host, port: port)
        }
        var group = ServiceGroupConfiguration(
            // The last one stops first: what was begun in the browser is ended when nobody can begin more.
            services: [.init(service: PagesService(pages: pages)), .init(service: server)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = Self.shutdownLimit
        try await ServiceGroup(configuration: group).run()
    }

    private var configuration: HearthServerConfiguration {
        var configuration = HearthServerConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.allowedHosts = allowHost
        configuration.allowedOrigins = corsOrigin
        configuration.trustedProxies = trustedProxy
        configuration.allowsClearing = allowClearing
        configuration.notificationStatus = notificationStatus == 200 ? .ok : .noContent
        limits.apply(to: &configuration)
        return configuration
    }

    /// Prints the address on a line of its own.
    private static func announce(host: String, port: Int) {
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        let line = "http://\(isIPv6 ? "[\(host)]" : host):\(port)\n"
        // A server whose output nobody reads serves all the same.
        try? FileHandle.standardOutput.write(contentsOf: Data(line.utf8))
    }
}

extension UInt8 {
    /// Whether the byte can stand in a Host header: in a name, an address or a port.
    fileprivate var isPartOfHost: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        case UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
        default: isDigit
        }
    }
}
