package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `server.info`: returns the state of the server and of the selected database.
package enum GetServerInfo: RPCMethod {
    /// The state of the server and of the selected database.
    package struct Result: Sendable {
        /// The selected database.
        package let database: DatabaseID
        package let position: StorePosition
        /// The reason why the store rejects writes, or `nil` if it accepts them.
        package let writeBlockedReason: StatusError?
        /// The state of a standby; `nil` on a server that accepts writes.
        package let standby: StandbyStatus?
        /// The time since the server started.
        package let uptime: Duration
        package let limits: ServiceLimits
        /// The build progress of the index, which queries require.
        package let index: IndexReport.BuildState
        /// The size of the database, or `nil` while the index is being built or for callers without access to the whole
        /// database.
        package let size: CollectionSize?
        /// The disk usage, or `nil` if the database does not exist yet or for callers without access to the whole database.
        package let storage: StorageReport?
        /// The number of browser sessions that the caller may see.
        package let sessionCount: Int
        /// The activity of the database and the server, or `nil` for callers without access to the whole database.
        package let activity: Activity?
        /// The security rules of the database.
        package let rules: Rules
    }

    /// The security rules of a database, as far as they concern its operation.
    package struct Rules: Sendable {
        /// The version of the rules that decide now; `nil` if there are none.
        package let version: UTF8Key?
        /// The reason why the database's own file is not in use; `nil` without one.
        package let problem: StatusError?
        /// True on a server in emulator mode, on which everybody may do everything.
        package let isEmulator: Bool
    }

    /// The activity of a database and its server.
    package struct Activity: Sendable {
        /// The number of open watch streams in all databases.
        package let watcherCount: Int
        /// The commit rates of the database.
        package let rates: CommitRates.Rates
        /// The resident memory of the server, or `nil` on platforms that do not report it.
        package let residentBytes: Int?
    }

    package static let name: UTF8Key = "server.info"
    package static let summary = "Returns the version, limits and state of the server and of the selected database."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription(
        "info",
        .object([
            .init(ServerInfoKeys.name, .string(), "The product name."),
            .init(ServerInfoKeys.version, .string(), "The product version."),
            .init(
                ServerInfoKeys.database,
                .string(),
                "The selected database, as project/database."
            ),
            .init(
                ServerInfoKeys.epoch,
                .string(),
                "The ID of the history that sequence numbers belong to. It changes when the database is recreated or when "
                    + "commits may have been lost; a restored copy of the data folder keeps it."
            ),
            .init(ServerInfoKeys.sequence, .integer(minimum: 0), "The sequence number of the last commit."),
            .init(ServerInfoKeys.oldestSequence, .integer(minimum: 1), "The sequence number of the oldest retained commit."),
            .init(
                ServerInfoKeys.commitTime,
                Timestamp.schema,
                "The time of the last commit; absent before the first.",
                isRequired: false
            ),
            .init("writable", .boolean, "Whether the store accepts writes."),
            .init(
                ServerInfoKeys.writeObstacle,
                .string(),
                "The reason why writes are rejected; absent if they are accepted.",
                isRequired: false
            ),
            .init(
                ServerInfoKeys.primary,
                .string(),
                "The address of the primary that this standby follows; absent on a server that accepts writes.",
                isRequired: false
            ),
            .init(
                ServerInfoKeys.ageSeconds,
                .number,
                "The time for which this standby may lack commits of its primary; absent on other servers, and before it is known.",
                isRequired: false
            ),
            .init("index", .object(IndexReport.BuildState.members), "The build state of the index, which queries require."),
            .init(
                "size",
                .collectionSize,
                "The size of the database, possibly without the latest commits; absent while the index is being built, and for "
                    + "keys that are restricted to collections.",
                isRequired: false
            ),
            .init(
                "storage",
                .object([
                    .init("journalBytes", .integer(minimum: 0), "The size of the journal."),
                    .init("maximumJournalBytes", .integer(minimum: 0), "The maximum size of the journal."),
                    .init(
                        "freeBytes",
                        .integer(minimum: 0),
                        "The free disk space; absent on platforms that do not report it.",
                        isRequired: false
                    ),
                    .init(
                        "freeInodes",
                        .integer(minimum: 0),
                        "The number of files that the disk has space for, of which every document is one; absent for file systems "
                            + "without such a limit.",
                        isRequired: false
                    ),
                    .init(
                        "waitingDocuments",
                        .integer(minimum: 0),
                        "The number of documents whose last commit could not be written to their files. They are readable as "
                            + "committed."
                    ),
                    .init(
                        "fileProblems",
                        .integer(minimum: 0),
                        "The number of edits of files that have not become commits and need a person. files.problems lists them."
                    ),
                ]),
                "The disk usage of the database; absent before its first write, and for keys that are restricted to collections.",
                isRequired: false
            ),
            .init("sessions", .integer(minimum: 0), "The number of browser sessions that the caller may see."),
            .init(ServerInfoKeys.uptimeSeconds, .integer(minimum: 0), "The time since the server started, in seconds."),
            .init(
                "watchers",
                .integer(minimum: 0),
                "The number of open watch streams in all databases; absent for keys that are restricted to collections.",
                isRequired: false
            ),
            .init(
                "commitsPerSecond",
                .number,
                "The commits per second in the database over the last minute; absent for keys that are restricted to collections.",
                isRequired: false
            ),
            .init(
                "memoryBytes",
                .integer(minimum: 0),
                "The resident memory of the server; absent on platforms that do not report it, and for keys that are restricted to collections.",
                isRequired: false
            ),
            .init(
                ServerInfoKeys.rules,
                .object([
                    .init(
                        RulesKeys.version,
                        .string(),
                        "The version of the rules; absent without any: then the database is closed to end users.",
                        isRequired: false
                    ),
                    .init(
                        RulesKeys.problem,
                        .string(),
                        "The reason why the database's own file of rules is not in use; absent without one, and for keys that are "
                            + "restricted to collections.",
                        isRequired: false
                    ),
                    .init(
                        ServerInfoKeys.emulator,
                        .boolean,
                        "Whether the server is in emulator mode, in which everyone on its machine may do everything."
                    ),
                ]),
                "The security rules of the database."
            ),
            .init(
                ServerInfoKeys.limits,
                .object([
                    .init(ServerLimitKeys.bodyBytes, .integer(minimum: 1), "The maximum size of a request and of a response."),
                    .init(ServerLimitKeys.batchCount, .integer(minimum: 1), "The maximum number of requests in a batch."),
                    .init(ServerLimitKeys.pageSize, .integer(minimum: 1), "The maximum page size of lists."),
                    .init(ServerLimitKeys.documentBytes, .integer(minimum: 1), "The maximum size of a document."),
                ]),
                "The limits of the server."
            ),
        ]),
        "The server state."
    )
    package static let examples = [
        RPCExample(
            "this server",
            params: "{}",
            result: #"""
                {
                    "name": "Hearth",
                    "version": "0.1.0",
                    "database": "hearth/(default)",
                    "epoch": "9f86d081884c7d659a2feaa0c55ad015",
                    "sequence": 41,
                    "oldestSequence": 1,
                    "commitTime": "2024-02-29T12:00:00.000000Z",
                    "writable": true,
                    "index": {"state": "ready", "documentsDone": 0, "documentsTotal": 0},
                    "size": {"documentCount": 3, "bytes": 412},
                    "storage": {"journalBytes": 16777216, "maximumJournalBytes": 268435456, "freeBytes": 52613349376, "waitingDocuments": 0, "fileProblems": 0},
                    "sessions": 0,
                    "uptimeSeconds": 86400,
                    "watchers": 0,
                    "commitsPerSecond": 0.0,
                    "memoryBytes": 25165824,
                    "rules": {"emulator": false},
                    "limits": {"bodyBytes": 16777216, "batchCount": 1000, "pageSize": 1000, "documentBytes": 1048576}
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async -> Result {
        let storage = await (try? context.store.localFiles)?.storage()
        return Result(
            database: context.databaseName,
            position: context.store.position,
            writeBlockedReason: await context.store.writeBlockedReason,
            standby: context.server.standby,
            uptime: ContinuousClock.now - context.server.startTime,
            limits: context.server.limits,
            index: await context.store.indexes().singleFields,
            size: storage?.size,
            storage: storage,
            sessionCount: context.sessions.visible(to: context.caller).count,
            activity: context.caller.collections == nil ? activity(in: context) : nil,
            rules: Rules(
                version: context.rules.active?.version,
                problem: context.caller.collections == nil ? context.rules.problem : nil,
                isEmulator: context.rulesRegistry.isEmulator
            )
        )
    }

    private static func activity(in context: ServiceContext) -> Activity {
        Activity(
            watcherCount: context.server.activity.watcherCount,
            rates: context.commitRates.current,
            residentBytes: ProcessMemory.residentBytes
        )
    }
}

extension GetServerInfo {
    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(ServerInfoKeys.name)
        writer.string(ServerDescription.name)
        writer.key(ServerInfoKeys.version)
        writer.string(ServerDescription.version)
        writer.key(ServerInfoKeys.database)
        writer.string(result.database.description)
        writer.key(ServerInfoKeys.epoch)
        writer.string(result.position.epoch)
        writer.key(ServerInfoKeys.sequence)
        writer.integer(Int64(result.position.lastSequence.rawValue))
        writer.key(ServerInfoKeys.oldestSequence)
        writer.integer(Int64(result.position.oldestRetained.rawValue))
        if let time = result.position.lastCommitTime {
            writer.key(ServerInfoKeys.commitTime)
            writer.string(time.rfc3339)
        }
        writer.key("writable")
        let reason = result.writeBlockedReason ?? result.standby.map { .standby(of: $0.primary) }
        writer.boolean(reason == nil)
        if let reason {
            writer.key(ServerInfoKeys.writeObstacle)
            writer.string(reason.message)
        }
        if let standby = result.standby {
            writer.member(ServerInfoKeys.primary, standby.primary)
            if let age = standby.ageSeconds {
                writer.key(ServerInfoKeys.ageSeconds)
                writer.double(age)
            }
        }
        writer.key("index")
        writer.beginObject()
        result.index.writeMembers(to: &writer)
        writer.endObject()
        if let size = result.size {
            writer.key("size")
            GetCollectionSize.write(size, to: &writer)
        }
        if let storage = result.storage {
            writer.key("storage")
            storage.write(to: &writer)
        }
        writer.key("sessions")
        writer.integer(Int64(result.sessionCount))
        writer.key(ServerInfoKeys.uptimeSeconds)
        writer.integer(result.uptime.components.seconds)
        if let activity = result.activity { activity.writeMembers(to: &writer) }
        writer.key(ServerInfoKeys.rules)
        writer.beginObject()
        if let version = result.rules.version { writer.member(RulesKeys.version, version.string) }
        if let problem = result.rules.problem { writer.member(RulesKeys.problem, problem.message) }
        writer.key(ServerInfoKeys.emulator)
        writer.boolean(result.rules.isEmulator)
        writer.endObject()
        writer.key(ServerInfoKeys.limits)
        writer.beginObject()
        writer.key(ServerLimitKeys.bodyBytes)
        writer.integer(Int64(result.limits.maximumBodyBytes))
        writer.key(ServerLimitKeys.batchCount)
        writer.integer(Int64(result.limits.maximumBatchCount))
        writer.key(ServerLimitKeys.pageSize)
        writer.integer(Int64(result.limits.maximumPageSize))
        writer.key(ServerLimitKeys.documentBytes)
        writer.integer(Int64(DocumentLimits.maximumDocumentBytes))
        writer.endObject()
        writer.endObject()
    }
}

extension GetServerInfo.Activity {
    fileprivate func writeMembers(to writer: inout JSONWriter) {
        writer.key("watchers")
        writer.integer(Int64(watcherCount))
        writer.key("commitsPerSecond")
        writer.double((rates.recent * 1_000).rounded() / 1_000)
        if let residentBytes {
            writer.key("memoryBytes")
            writer.integer(Int64(residentBytes))
        }
    }
}

extension StorageReport {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("journalBytes")
        writer.integer(Int64(journalBytes))
        writer.key("maximumJournalBytes")
        writer.integer(Int64(maximumJournalBytes))
        if let freeBytes {
            writer.key("freeBytes")
            writer.integer(Int64(freeBytes))
        }
        if let inodes {
            writer.key("freeInodes")
            writer.integer(Int64(inodes.free))
        }
        writer.key("waitingDocuments")
        writer.integer(Int64(unappliedCount))
        writer.key("fileProblems")
        writer.integer(Int64(fileProblemCount))
        writer.endObject()
    }
}
