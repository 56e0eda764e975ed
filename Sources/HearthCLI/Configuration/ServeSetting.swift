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
        case number
        case boolean
        /// A list of strings. The option is repeated; in the environment, commas separate them.
        case strings
    }

    /// The value of a setting.
    enum Value: Sendable, Equatable {
        case string(String)
        case integer(Int)
        case number(Double)
        case boolean(Bool)
        case strings([String])
    }

    /// The name in the configuration file.
    let name: String
    let kind: Kind
    /// True if the setting of a running server can be changed; false if that requires a restart.
    let isLive: Bool
    /// The environment variable that programs with OpenTelemetry have for the setting. It comes after ``variable``.
    let sharedVariable: String?
    /// Returns the value in the options; `nil` if it is not set and has no default.
    let value: @Sendable (ServeOptions) -> Value?

    private init(
        _ name: String,
        _ kind: Kind,
        isLive: Bool = false,
        sharedVariable: String? = nil,
        value: @escaping @Sendable (ServeOptions) -> Value?
    ) {
        self.name = name
        self.kind = kind
        self.isLive = isLive
        self.sharedVariable = sharedVariable
        self.value = value
    }

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
        ServeSetting("data", .path) { $0.engine == nil ? .string($0.data) : nil },
        ServeSetting("engine", .string) { $0.engine.map { .string($0) } },
        ServeSetting("serverFolder", .path) { $0.engine == nil ? nil : .string($0.engineFolder) },
        ServeSetting("serverURL", .string) { $0.serverURL.map { .string($0) } },
        ServeSetting("serverCA", .path) { $0.serverCA.map { .string($0) } },
        ServeSetting("groupAccess", .string) { .string($0.groupAccess.rawValue) },
        ServeSetting("host", .string) { .string($0.host) },
        ServeSetting("port", .integer) { .integer($0.port) },
        ServeSetting("allowHost", .strings, isLive: true) { .strings($0.allowHost) },
        ServeSetting("corsOrigin", .strings, isLive: true) { .strings($0.corsOrigin) },
        ServeSetting("imageOrigin", .strings, isLive: true) { .strings($0.imageOrigin) },
        ServeSetting("trustedProxy", .strings, isLive: true) { .strings($0.trustedProxy) },
        ServeSetting("project", .string) { .string($0.project) },
        ServeSetting("allowClearing", .boolean) { .boolean($0.allowClearing) },
        ServeSetting("notificationStatus", .integer) { .integer($0.notificationStatus) },
        ServeSetting("drainSeconds", .integer) { .integer($0.drainSeconds) },
        ServeSetting("assets", .path) { $0.assets.map { .string($0) } },
        ServeSetting("tlsCertificate", .path, isLive: true) { $0.tls.tlsCertificate.map { .string($0) } },
        ServeSetting("tlsKey", .path, isLive: true) { $0.tls.tlsKey.map { .string($0) } },
        ServeSetting("tlsClientCA", .path, isLive: true) { $0.tls.tlsClientCA.map { .string($0) } },
        ServeSetting("tlsMinimumVersion", .string) { .string($0.tls.tlsMinimumVersion.rawValue) },
        ServeSetting("backups", .path) { $0.backup.backups.map { .string($0) } },
        ServeSetting("backupHours", .integer) { $0.backup.backupHours.map { .integer($0) } },
        ServeSetting("keepBackups", .integer) { $0.backup.keepBackups.map { .integer($0) } },
        ServeSetting("archiveSeconds", .integer) { $0.backup.archiveSeconds.map { .integer($0) } },
        ServeSetting("follow", .string) { $0.standby.follow.map { .string($0) } },
        ServeSetting("followKey", .path) { $0.standby.followKey.map { .string($0) } },
        ServeSetting("followCA", .path) { $0.standby.followCA.map { .string($0) } },
        ServeSetting("rules", .path) { $0.authentication.rules.map { .string($0) } },
        ServeSetting("authFirebaseProject", .string) { $0.authentication.authFirebaseProject.map { .string($0) } },
        ServeSetting("authIssuers", .path) { $0.authentication.authIssuers.map { .string($0) } },
        ServeSetting("emulator", .boolean) { .boolean($0.authentication.emulator) },
        ServeSetting("folderEdits", .boolean) { .boolean($0.folderEdits.folderEdits) },
        ServeSetting("folderEditQuietMs", .integer) { .integer($0.folderEdits.folderEditQuietMs) },
        ServeSetting("folderEditKeepText", .boolean) { .boolean($0.folderEdits.folderEditKeepText) },
        ServeSetting("folderEditRules", .boolean) { .boolean($0.folderEdits.folderEditRules) },
        ServeSetting("folderEditDeletions", .integer) { .integer($0.folderEdits.folderEditDeletions) },
        ServeSetting("keepHours", .integer) { .integer($0.limits.keepHours) },
        ServeSetting("keepMebibytes", .integer) { .integer($0.limits.keepMebibytes) },
        ServeSetting("checkpointMebibytes", .integer) { .integer($0.limits.checkpointMebibytes) },
        ServeSetting("checkpointDocuments", .integer) { .integer($0.limits.checkpointDocuments) },
        ServeSetting("openDatabases", .integer) { .integer($0.limits.openDatabases) },
        ServeSetting("watchers", .integer, isLive: true) { .integer($0.limits.watchers) },
        ServeSetting("watchersPerAddress", .integer, isLive: true) { .integer($0.limits.watchersPerAddress) },
        ServeSetting("watchersPerKey", .integer, isLive: true) { .integer($0.limits.watchersPerKey) },
        ServeSetting("queueMs", .integer) { .integer($0.limits.queueMs) },
        ServeSetting("callRatePerAddress", .integer, isLive: true) { .integer($0.limits.callRatePerAddress) },
        ServeSetting("callBurstPerAddress", .integer, isLive: true) { $0.limits.callBurstPerAddress.map { .integer($0) } },
        ServeSetting("callRatePerKey", .integer, isLive: true) { .integer($0.limits.callRatePerKey) },
        ServeSetting("callBurstPerKey", .integer, isLive: true) { $0.limits.callBurstPerKey.map { .integer($0) } },
        ServeSetting("logFormat", .string) { .string($0.log.logFormat.rawValue) },
        ServeSetting("logLevel", .string) { .string($0.log.logLevel.rawValue) },
        ServeSetting("accessLog", .boolean) { .boolean($0.log.accessLog) },
        ServeSetting("slowCallMs", .integer) { .integer($0.log.slowCallMs) },
        ServeSetting("auditLog", .path) { $0.log.auditLog.map { .string($0) } },
        ServeSetting("traceEndpoint", .string, sharedVariable: "OTEL_EXPORTER_OTLP_ENDPOINT") {
            $0.trace.traceEndpoint.map { .string($0) }
        },
        ServeSetting("traceSampleRatio", .number, sharedVariable: "OTEL_TRACES_SAMPLER_ARG") {
            .number($0.trace.traceSampleRatio)
        },
        ServeSetting("traceServiceName", .string, sharedVariable: "OTEL_SERVICE_NAME") {
            $0.trace.traceServiceName.map { .string($0) }
        },
        ServeSetting("traceAttribute", .strings, sharedVariable: "OTEL_RESOURCE_ATTRIBUTES") {
            .strings($0.trace.traceAttribute)
        },
        ServeSetting("traceHeaders", .path) { $0.trace.traceHeaders.map { .string($0) } },
    ]
}
