import HearthHTTP
import Logging
import StorageIO

/// A setting of `hearth serve`: one of its options, a member of its configuration file, and an environment variable.
///
/// One rule gives all three names: the option `--allow-host` is the member `allowHost` and the variable `HEARTH_ALLOW_HOST`.
struct ServeSetting: Sendable {
    /// The kind of the values.
    enum Kind: Sendable {
        case string
        /// The path of a file or folder. In a configuration file, it is relative to the folder of that file.
        case path
        case integer
        case boolean
        /// A list of strings. The option is repeated; in the environment, commas separate them.
        case strings
    }

    /// The value of a setting.
    enum Value: Sendable, Equatable {
        case string(String)
        case integer(Int)
        case boolean(Bool)
        case strings([String])
    }

    /// The name in the configuration file.
    let name: String
    let kind: Kind
    /// True if the setting of a running server can be changed; false if that requires a restart.
    let isLive: Bool
    /// Returns the value in the options; `nil` if it is not set and has no default.
    let value: @Sendable (ServeOptions) -> Value?

    /// The words of the name, in lower case.
    var words: [String] {
        var words: [String] = []
        var previous: Character?
        for character in name {
            if words.isEmpty || character.isUppercase && previous?.isUppercase != true { words.append("") }
            words[words.count - 1].append(character.lowercased())
            previous = character
        }
        return words
    }

    /// The option, with its dashes.
    var option: String { "--" + words.joined(separator: "-") }

    /// The name of the environment variable.
    var variable: String { "HEARTH_" + words.joined(separator: "_").uppercased() }
}

extension ServeSetting {
    /// All settings, in the order of the documentation.
    static let all: [ServeSetting] = [
        path("data") { $0.data },
        string("groupAccess") { $0.groupAccess.rawValue },
        string("host") { $0.host },
        integer("port") { $0.port },
        strings("allowHost", isLive: true) { $0.allowHost },
        strings("corsOrigin", isLive: true) { $0.corsOrigin },
        strings("trustedProxy", isLive: true) { $0.trustedProxy },
        string("project") { $0.project },
        boolean("allowClearing") { $0.allowClearing },
        integer("notificationStatus") { $0.notificationStatus },
        integer("drainSeconds") { $0.drainSeconds },
        path("assets") { $0.assets },
        path("tlsCertificate", isLive: true) { $0.tls.tlsCertificate },
        path("tlsKey", isLive: true) { $0.tls.tlsKey },
        path("tlsClientCA", isLive: true) { $0.tls.tlsClientCA },
        string("tlsMinimumVersion") { $0.tls.tlsMinimumVersion.rawValue },
        path("backups") { $0.backup.backups },
        integer("backupHours") { $0.backup.backupHours },
        integer("keepBackups") { $0.backup.keepBackups },
        integer("archiveSeconds") { $0.backup.archiveSeconds },
        path("rules") { $0.authentication.rules },
        string("authFirebaseProject") { $0.authentication.authFirebaseProject },
        path("authIssuers") { $0.authentication.authIssuers },
        boolean("emulator") { $0.authentication.emulator },
        integer("keepHours") { $0.limits.keepHours },
        integer("keepMebibytes") { $0.limits.keepMebibytes },
        integer("checkpointMebibytes") { $0.limits.checkpointMebibytes },
        integer("checkpointDocuments") { $0.limits.checkpointDocuments },
        integer("openDatabases") { $0.limits.openDatabases },
        integer("watchers", isLive: true) { $0.limits.watchers },
        integer("watchersPerAddress", isLive: true) { $0.limits.watchersPerAddress },
        integer("watchersPerKey", isLive: true) { $0.limits.watchersPerKey },
        string("logFormat") { $0.log.logFormat.rawValue },
        string("logLevel") { $0.log.logLevel.rawValue },
        boolean("accessLog") { $0.log.accessLog },
        integer("slowCallMs") { $0.log.slowCallMs },
        path("auditLog") { $0.log.auditLog },
    ]

    private static func string(
        _ name: String,
        isLive: Bool = false,
        _ value: @escaping @Sendable (ServeOptions) -> String?
    ) -> ServeSetting {
        ServeSetting(name: name, kind: .string, isLive: isLive) { value($0).map { .string($0) } }
    }

    private static func path(
        _ name: String,
        isLive: Bool = false,
        _ value: @escaping @Sendable (ServeOptions) -> String?
    ) -> ServeSetting {
        ServeSetting(name: name, kind: .path, isLive: isLive) { value($0).map { .string($0) } }
    }

    private static func integer(
        _ name: String,
        isLive: Bool = false,
        _ value: @escaping @Sendable (ServeOptions) -> Int?
    ) -> ServeSetting {
        ServeSetting(name: name, kind: .integer, isLive: isLive) { value($0).map { .integer($0) } }
    }

    private static func boolean(
        _ name: String,
        isLive: Bool = false,
        _ value: @escaping @Sendable (ServeOptions) -> Bool
    ) -> ServeSetting {
        ServeSetting(name: name, kind: .boolean, isLive: isLive) { .boolean(value($0)) }
    }

    private static func strings(
        _ name: String,
        isLive: Bool = false,
        _ value: @escaping @Sendable (ServeOptions) -> [String]
    ) -> ServeSetting {
        ServeSetting(name: name, kind: .strings, isLive: isLive) { .strings(value($0)) }
    }
}
