package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `backups.create`: starts a backup of all databases.
package enum CreateBackup: RPCMethod {
    private static let includeKeys = Parameter<Bool?>(
        BackupKeys.includeKeys,
        "Whether to include the API keys, which are stored as digests. Default: false."
    )

    package static let name: UTF8Key = "backups.create"
    package static let summary = """
        Starts a backup of all databases to the server's folder for backups, each database as of one commit, while it is read and \
        written. backups.list shows when it is complete.
        """
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [includeKeys]
    package static let result = ResultDescription(
        "result",
        .object([.init(BackupKeys.startTime, Timestamp.schema, "The start time of the backup, as backups.list shows it.")]),
        "The backup in progress."
    )
    package static let errors = [
        ErrorDescription(
            status: .failedPrecondition,
            "The server has no folder for backups, or another backup is being made."
        )
    ]
    package static let examples = [
        RPCExample("a backup without keys", params: "{}", result: #"{"startTime": "2026-11-26T18:05:00.000000Z"}"#)
    ]

    package static func params(from arguments: Arguments) throws -> Bool {
        try arguments[includeKeys] ?? false
    }

    package static func call(_ includesKeys: Bool, in context: ServiceContext) async throws(StatusError) -> Timestamp {
        try context.caller.requireAccessToDatabase()
        guard let databases = context.databases else { throw .noBackupFolder }
        return try await context.audited(.createBackup, detail: includesKeys ? "with keys" : "without keys") {
            () async throws(StatusError) in try await databases.startBackup(includingKeys: includesKeys)
        }
    }

    package static func write(_ startTime: Timestamp, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(BackupKeys.startTime, startTime.rfc3339)
        writer.endObject()
    }
}
