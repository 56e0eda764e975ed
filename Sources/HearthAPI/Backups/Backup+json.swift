import DocumentModel
import DocumentStore
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

extension Backup {
    /// The schema of ``write(to:defaultDatabase:verification:)``.
    static let schema = JSONSchema.object([
        .init(BackupKeys.name, .string(), "The name of the backup's folder, made of the time of its begin."),
        .init(BackupKeys.startTime, Timestamp.schema, "The time at which it was begun."),
        .init(BackupKeys.endTime, Timestamp.schema, "The time at which it was complete and durable."),
        .init(
            BackupKeys.databases,
            .array(
                of: .object([
                    .init(BackupKeys.database, .string(), "The database, as project/database."),
                    .init(BackupKeys.lastCommit, .integer(minimum: 0), "The sequence number of the last commit in the backup."),
                    .init(
                        BackupKeys.lastCommitTime,
                        Timestamp.schema,
                        "The time of that commit; absent before the first one.",
                        isRequired: false
                    ),
                ])
            ),
            "The databases, the default one first."
        ),
        .init(BackupKeys.files, .integer(minimum: 0), "The number of files."),
        .init(BackupKeys.bytes, .integer(minimum: 0), "The size of the files in bytes."),
        .init(BackupKeys.includeKeys, .boolean, "Whether it includes the API keys."),
        .init(
            BackupKeys.verification,
            .object([
                .init(BackupKeys.time, Timestamp.schema, "The time at which it was begun."),
                .init(BackupKeys.faults, .integer(minimum: 0), "The number of files that were missing or altered."),
            ]),
            "The last comparison of all of its files with their digests; absent if there was none.",
            isRequired: false
        ),
    ])

    /// Writes the JSON of a backup in results.
    func write(to writer: inout JSONWriter, defaultDatabase: DatabaseID, verification: BackupVerification?) {
        writer.beginObject()
        writer.member(BackupKeys.name, name)
        writer.member(BackupKeys.startTime, startTime.rfc3339)
        writer.member(BackupKeys.endTime, endTime.rfc3339)
        writer.array(BackupKeys.databases, of: databases) { database, writer in
            writer.beginObject()
            writer.member(BackupKeys.database, (database.id ?? defaultDatabase).description)
            writer.member(BackupKeys.lastCommit, Int(clamping: database.lastSequence.rawValue))
            if let time = database.lastCommitTime { writer.member(BackupKeys.lastCommitTime, time.rfc3339) }
            writer.endObject()
        }
        writer.member(BackupKeys.files, fileCount)
        writer.member(BackupKeys.bytes, byteCount)
        writer.member(BackupKeys.includeKeys, includesKeys)
        if let verification {
            writer.key(BackupKeys.verification)
            writer.beginObject()
            writer.member(BackupKeys.time, verification.time.rfc3339)
            writer.member(BackupKeys.faults, verification.faultCount)
            writer.endObject()
        }
        writer.endObject()
    }
}
