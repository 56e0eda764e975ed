package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `backups.list`: lists the backups.
package enum ListBackups: RPCMethod {
    /// The backups in the server's folder.
    package struct Result: Sendable {
        package let backups: [Backup]
        /// The backup in progress, and the failure of the last one.
        package let status: BackupStatus
        /// The verifications of the backups; none if their record cannot be read.
        package let verifications: BackupVerifications
        /// The name of the default database.
        let defaultDatabase: DatabaseID
    }

    package static let name: UTF8Key = "backups.list"
    package static let summary =
        """
        Lists the complete backups in the server's folder for backups, oldest first, with their verifications, the one in progress, and \
        the last failure.
        """
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription(
        "result",
        .object([
            .init(BackupKeys.backups, .array(of: Backup.schema), "The complete backups."),
            .init(
                BackupKeys.runningSince,
                Timestamp.schema,
                "The start time of the backup in progress; absent if none is being made.",
                isRequired: false
            ),
            .init(
                BackupKeys.verifying,
                .object([
                    .init(BackupKeys.name, .string(), "The name of the backup."),
                    .init(BackupKeys.startTime, Timestamp.schema, "The time at which the verification was begun."),
                ]),
                "The backup that backups.verify compares with its digests; absent if there is none.",
                isRequired: false
            ),
            .init(
                BackupKeys.lastFailure,
                .object([
                    .init(BackupKeys.startTime, Timestamp.schema, "The time at which the backup was begun."),
                    .init(BackupKeys.message, .string(), "What went wrong, and what to do."),
                ]),
                "The failure of the last backup; absent if it succeeded.",
                isRequired: false
            ),
        ]),
        "The backups."
    )
    package static let errors = [
        ErrorDescription(status: .failedPrecondition, "The server has no folder for backups."),
        ErrorDescription(status: .unavailable, "The folder cannot currently be read."),
    ]
    package static let examples = [
        RPCExample(
            "a folder with one backup",
            params: "{}",
            result: #"""
                {
                    "backups": [
                        {
                            "name": "2026-11-26T18-05-00Z",
                            "startTime": "2026-11-26T18:05:00.000000Z",
                            "endTime": "2026-11-26T18:05:04.200000Z",
                            "databases": [
                                {
                                    "database": "hearth/(default)",
                                    "lastCommit": 1042,
                                    "lastCommitTime": "2026-11-26T18:05:03.100000Z"
                                }
                            ],
                            "files": 1060,
                            "bytes": 310400,
                            "includeKeys": false
                        }
                    ]
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async throws(StatusError) -> Result {
        try context.caller.requireAccessToDatabase()
        guard let databases = context.databases else { throw .noBackupFolder }
        // In this order: a backup that is no longer in progress is in the list.
        let status = await databases.backupStatus
        return Result(
            backups: try await databases.backups.list(),
            status: status,
            verifications: (try? await databases.backups.verifications()) ?? BackupVerifications(),
            defaultDatabase: context.defaultDatabase
        )
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(BackupKeys.backups, of: result.backups) { backup, writer in
            backup.write(
                to: &writer,
                defaultDatabase: result.defaultDatabase,
                verification: result.verifications.latest(of: backup)
            )
        }
        if let time = result.status.runningSince { writer.member(BackupKeys.runningSince, time.rfc3339) }
        if let (name, time) = result.status.verifying {
            writer.key(BackupKeys.verifying)
            writer.beginObject()
            writer.member(BackupKeys.name, name)
            writer.member(BackupKeys.startTime, time.rfc3339)
            writer.endObject()
        }
        if let failure = result.status.lastFailure {
            writer.key(BackupKeys.lastFailure)
            writer.beginObject()
            writer.member(BackupKeys.startTime, failure.startTime.rfc3339)
            writer.member(BackupKeys.message, failure.error.message)
            writer.endObject()
        }
        writer.endObject()
    }
}
