package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `backups.verify`: starts the comparison of a backup's files with their digests.
package enum VerifyBackup: RPCMethod {
    private static let backup = Parameter<String>(BackupKeys.name, "The name of the backup, as backups.list shows it.")

    package static let name: UTF8Key = "backups.verify"
    package static let summary = """
        Starts the comparison of all files of a backup with their SHA-256 digests. backups.list shows the result when it is complete, and \
        the server's log the first fault.
        """
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [backup]
    package static let result = ResultDescription(
        "result",
        .object([.init(BackupKeys.startTime, Timestamp.schema, "The time at which it was begun.")]),
        "The verification in progress."
    )
    package static let errors = [
        ErrorDescription(
            status: .failedPrecondition,
            "The server has no folder for backups, or another backup is being verified."
        ),
        ErrorDescription(status: .notFound, "There is no such backup."),
    ]
    package static let examples = [
        RPCExample(
            "a backup",
            params: #"{"name": "2026-11-26T18-05-00Z"}"#,
            result: #"{"startTime": "2026-11-27T03:00:00.000000Z"}"#
        )
    ]

    package static func params(from arguments: Arguments) throws -> String {
        try arguments[backup]
    }

    package static func call(_ name: String, in context: ServiceContext) async throws(StatusError) -> Timestamp {
        try await databases(of: context).startVerification(of: name)
    }

    /// Compares the files of a backup with their digests, and returns when that is complete.
    ///
    /// - Parameters:
    ///   - onFile: Called for each file that has been read, on any thread. Its error ends the verification.
    ///   - onFault: Called with an error for each file that is missing or altered, on any thread.
    package static func run(
        _ name: String,
        in context: ServiceContext,
        onFile: @escaping @Sendable () throws(StatusError) -> Void,
        onFault: @escaping @Sendable (StatusError) -> Void
    ) async throws(StatusError) {
        try context.authorize(requiredPermission)
        _ = try await databases(of: context).verifyBackup(name, onFile: onFile, onFault: onFault)
    }

    private static func databases(of context: ServiceContext) throws(StatusError) -> DatabaseRegistry {
        try context.caller.requireAccessToDatabase()
        guard let databases = context.databases else { throw .noBackupFolder }
        return databases
    }

    package static func write(_ startTime: Timestamp, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(BackupKeys.startTime, startTime.rfc3339)
        writer.endObject()
    }
}
