import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import HearthAPI
import HearthHTTP
import HearthTransport
import IdentityTokens
import NIOSSL
import PostgresStore
import StorageIO
import UTF8Text

/// The options of `hearth serve`. Each of them is a setting of its configuration file, too; see ``ServeSetting``.
struct ServeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Configuration file: a JSON object with these options, such as {"port": 9000, "allowHost": ["data.example.org"]}. Options \
            given here and in the environment (HEARTH_PORT) override it. Read again on SIGHUP. Can also be set with HEARTH_CONFIG.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var config: String?

    @Option(
        name: .customLong("data"),
        help: ArgumentHelp("Data folder; created if it doesn't exist. (default: data)", valueName: "dir")
    )
    var dataFolder: String?

    @Option(
        help: ArgumentHelp(
            """
            Preview: store the databases in an engine that speaks the protocol of PostgreSQL, instead of a data folder. Several servers \
            may share it. A URL without a password, such as postgresql://hearth@db.example.org/hearth; see the documentation.
            """,
            valueName: "url"
        )
    )
    var engine: String?

    @Option(
        help: ArgumentHelp(
            "With --engine, the folder of this server's own files: activity and uploads. (default: server)",
            valueName: "dir"
        )
    )
    var serverFolder: String?

    @Option(
        name: .customLong("server-url"),
        help: ArgumentHelp(
            """
            With --engine, the URL by which the other servers of the engine reach this one, such as http://10.0.0.5:8080. Servers that have \
            one forward commits to the one that has the lease, while several write a database. The port 0 is the one that it listens on.
            """,
            valueName: "url"
        )
    )
    var serverURL: String?

    @Option(
        help: ArgumentHelp(
            """
            With --server-url, a PEM file with certificates of authorities to trust in addition to the system's, for connections to the \
            other servers of the engine.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var serverCA: String?

    @Option(
        help: ArgumentHelp(
            """
            Access of the server's group to files of the data folder that it creates: none, read, or edit. API keys stay private. What \
            exists keeps its mode.
            """,
            valueName: "access"
        )
    )
    var groupAccess = GroupAccess.none

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
            Origin, such as https://images.example.org, whose images the admin pages show as thumbnails beside the links to them. \
            The browsers of those who view the pages load them from there. May be repeated.
            """,
            valueName: "origin"
        )
    )
    var imageOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Address or network (such as 10.0.0.0/8) of a proxy whose X-Forwarded-For, X-Forwarded-Proto and X-Request-Id headers are \
            trusted. May be repeated.
            """,
            valueName: "address"
        )
    )
    var trustedProxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "Project of the default database and of databases named without a project.",
            valueName: "id"
        )
    )
    var project = DatabaseID.standard.project.string

    @Flag(
        inversion: .prefixedNo,
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

    @Option(
        help: ArgumentHelp(
            """
            Time for which the server goes on to accept requests after SIGTERM, while /health/ready responds 503 so that load balancers \
            send theirs elsewhere.
            """,
            valueName: "seconds"
        )
    )
    var drainSeconds = 0

    @Option(help: ArgumentHelp("Folder that contains Templates and Public; found automatically by default.", valueName: "dir"))
    var assets: String?

    @OptionGroup(title: "TLS") var tls: ServeTLSOptions

    @OptionGroup(title: "Backups") var backup: ServeBackupOptions

    @OptionGroup(title: "Standby") var standby: ServeStandbyOptions

    @OptionGroup(title: "End users") var authentication: ServeAuthenticationOptions

    @OptionGroup(title: "Edits of files") var folderEdits: ServeFolderEditOptions

    @OptionGroup(title: "Limits") var limits: ServeLimitOptions

    @OptionGroup(title: "Log") var log: ServeLogOptions

    @OptionGroup(title: "Traces") var trace: ServeTraceOptions

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be between 0 and 65535.") }
        try validateEngine()
        for name in allowHost {
            guard !name.isEmpty, name.utf8.allSatisfy(\.isHostCharacter) else {
                throw ValidationError("--allow-host: \(Excerpt(name)) is not a host name such as data.example.org.")
            }
        }
        guard (0...600).contains(drainSeconds) else { throw ValidationError("--drain-seconds must be between 0 and 600.") }
        guard [200, 204].contains(notificationStatus) else { throw ValidationError("--notification-status must be 200 or 204.") }
        do throws(StatusError) {
            _ = try defaultDatabase
        } catch {
            throw ValidationError(error.message)
        }
        guard !host.isEmpty else { throw ValidationError("--host must be an address, such as 127.0.0.1.") }
        for text in trustedProxy where CIDRBlock(text) == nil {
            throw ValidationError(
                "--trusted-proxy: \(Excerpt(text)) is neither an IP address, such as 127.0.0.1, nor a network, such as 10.0.0.0/8."
            )
        }
        for (option, origins) in [("cors-origin", corsOrigin), ("image-origin", imageOrigin)] {
            for origin in origins where !Self.isOrigin(origin) {
                throw ValidationError(
                    "--\(option): \(Excerpt(origin)) is not an origin, which is a scheme and a host without a path, "
                        + "such as https://app.example.org."
                )
            }
        }
        for origin in imageOrigin where origin.utf8.contains(UInt8(ascii: "[")) {
            throw ValidationError(
                "--image-origin: \(Excerpt(origin)) has an IPv6 address, which a Content-Security-Policy cannot allow. Use a host name, "
                    + "such as https://images.example.org."
            )
        }
    }

    private func validateEngine() throws {
        guard serverCA == nil || serverURL != nil else { throw ValidationError("--server-ca requires --server-url.") }
        guard let engine else {
            guard serverFolder == nil else { throw ValidationError("--server-folder requires --engine.") }
            guard serverURL == nil else { throw ValidationError("--server-url requires --engine.") }
            return
        }
        guard dataFolder == nil else {
            throw ValidationError(
                "--engine and --data exclude each other: the databases are either in an engine or in a data folder."
            )
        }
        let ofFolders = [
            ("--backups", backup.backups != nil), ("--follow", standby.follow != nil),
        ]
        for (option, isGiven) in ofFolders where isGiven {
            throw ValidationError("\(option) is for data folders only, and cannot be used with --engine.")
        }
        do throws(StatusError) {
            _ = try EngineAddress(engine)
        } catch {
            throw ValidationError("--engine: \(error.message)")
        }
        do throws(StatusError) {
            _ = try serverAddress
        } catch {
            throw ValidationError("--server-url: \(error.message)")
        }
    }

    /// Returns whether the text has the form `http://host[:port]` or `https://host[:port]`.
    private static func isOrigin(_ text: String) -> Bool {
        ["http://", "https://"].contains { scheme in
            let host = text.utf8.dropFirst(scheme.utf8.count)
            return text.utf8.starts(with: scheme.utf8) && host.allSatisfy(\.isHostCharacter)
                && ![nil, UInt8(ascii: ":")].contains(host.first)
        }
    }

    /// The folder with the files of the server: the data folder, or with an engine that of the server's own files.
    var data: String { dataFolder ?? (engine == nil ? "data" : engineFolder) }

    /// The folder of the server's own files with an engine.
    var engineFolder: String { serverFolder ?? "server" }

    /// The address of the server for the others of its engine; `nil` without one.
    var serverAddress: ServerAddress? {
        get throws(StatusError) { try serverURL.map { url throws(StatusError) in try ServerAddress(url) } }
    }

    /// The settings of TLS for connections to the other servers of the engine; `nil` for those of the system. Reads the file each time.
    var peerTLS: TLSConfiguration? {
        get throws(StatusError) {
            guard let serverCA else { return nil }
            do throws(StatusError) {
                let authorities = try InputFile(serverCA, isRegular: true).readToEnd(maximumBytes: 4 << 20)
                return try HearthConnection.tlsConfiguration(trusting: authorities)
            } catch {
                throw StatusError(error.code, "--server-ca \(serverCA): \(error.message)", cause: error)
            }
        }
    }

    /// The ID of the default database.
    var defaultDatabase: DatabaseID {
        get throws(StatusError) { try DatabaseID(project: UTF8Key(project)) }
    }

    /// The configuration of the HTTP server.
    var http: HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration()
        configuration.host = host
        configuration.port = port
        configuration.allowedHosts = allowHost
        // The other servers call it by that name.
        if let address = try? serverAddress { configuration.allowedHosts.append(address.host) }
        configuration.allowedOrigins = corsOrigin
        configuration.trustedProxies = trustedProxy.compactMap(CIDRBlock.init)
        configuration.notificationStatus = notificationStatus == 200 ? .ok : .noContent
        limits.apply(to: &configuration)
        return configuration
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

extension GroupAccess: ExpressibleByArgument {}
