package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `server.info`: what answers, and where its log of commits stands.
package enum ServerInfo: RPCMethod {
    package struct Result: Sendable {
        /// The database that the rest is about.
        package let database: DatabaseID
        package let position: StorePosition
        /// Why the store takes no writes; nil when it does.
        package let writeObstacle: StatusError?
        /// How long the server has been running.
        package let uptime: Duration
        package let limits: ServiceLimits
        /// How far the index is, without which there are no queries.
        package let index: IndexReport.Progress
        /// How much is in the database; nil while the index doesn't know, and where the caller may not see all of it.
        package let size: CollectionSize?
        /// What the database takes of its disk; nil when it takes nothing, and where the caller may not see all of it.
        package let storage: StorageReport?
        /// How many browsers are signed in that the caller may know of.
        package let sessionCount: Int
        /// What goes on in all collections together, and in the server; nil where the caller may not see all of them.
        package let activity: Activity?
    }

    /// What goes on in a database and in the server around it.
    package struct Activity: Sendable {
        /// How many watch streams are open, in all databases.
        package let watcherCount: Int
        /// How fast commits came to the database in the last minutes.
        package let rates: CommitRates.Rates
        /// The memory that the server takes; nil where the system doesn't tell.
        package let residentBytes: Int?
    }

    package static let name: UTF8Key = "server.info"
    package static let summary = "Says what server this is, what it has committed, and what its limits are."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription(
        "info",
        .object([
            .init("name", .string(), "The product."),
            .init("version", .string(), "Its version."),
            .init(
                "database",
                .string(),
                "The database that the rest is about, as project/database: the default one, unless another was named."
            ),
            .init(
                "epoch",
                .string(),
                "Names the history that sequence numbers belong to; new when the database is made or restored."
            ),
            .init("sequence", .integer(minimum: 0), "The last commit's place in the order of commits."),
            .init("oldestSequence", .integer(minimum: 1), "The oldest commit that a watch stream can still be resumed before."),
            .init("commitTime", Timestamp.schema, "The last commit's time; absent before the first.", isRequired: false),
            .init("writable", .boolean, "Whether writes are taken."),
            .init("writeObstacle", .string(), "Why writes are not taken; absent when they are.", isRequired: false),
            .init("index", .object(IndexReport.Progress.members), "How far the index is: without it there are no queries."),
            .init(
                "size",
                .collectionSize,
                "How much is in the database, the last commits perhaps left out; absent while the index is made, and to keys that are for some "
                    + "collections.",
                isRequired: false
            ),
            .init(
                "storage",
                .object([
                    .init("journalBytes", .integer(minimum: 0), "How large the journal is."),
                    .init("maximumJournalBytes", .integer(minimum: 0), "How large it may become."),
                    .init(
                        "freeBytes",
                        .integer(minimum: 0),
                        "How much room the disk has left; absent where it does not tell.",
                        isRequired: false
                    ),
                    .init(
                        "waitingDocuments",
                        .integer(minimum: 0),
                        "How many documents are only in the journal as they should be, since their files can't be changed."
                    ),
                ]),
                "What the database takes of its disk; absent before anything was written to it, and to keys that are for some "
                    + "collections.",
                isRequired: false
            ),
            .init("sessions", .integer(minimum: 0), "How many browsers are signed in that the caller may know of."),
            .init("uptimeSeconds", .integer(minimum: 0), "How long the server has been running."),
            .init(
                "watchers",
                .integer(minimum: 0),
                "How many watch streams are open, in all databases; absent to keys that are for some collections.",
                isRequired: false
            ),
            .init(
                "commitsPerSecond",
                .number,
                "How fast commits came to the database in about the last minute; absent to keys that are for some collections.",
                isRequired: false
            ),
            .init(
                "memoryBytes",
                .integer(minimum: 0),
                "How much memory the server takes; absent where the system does not tell, and to keys that are for some collections.",
                isRequired: false
            ),
            .init(
                "limits",
                .object([
                    .init("bodyBytes", .integer(minimum: 1), "The size of a request, and of an answer."),
                    .init("batchCount", .integer(minimum: 1), "The requests in one batch."),
                    .init("pageSize", .integer(minimum: 1), "The largest page of a list."),
                    .init("documentBytes", .integer(minimum: 1), "The size of a document."),
                ]),
                "What a client has to keep to."
            ),
        ]),
        "The server."
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
                    "storage": {"journalBytes": 16777216, "maximumJournalBytes": 268435456, "freeBytes": 52613349376, "waitingDocuments": 0},
                    "sessions": 0,
                    "uptimeSeconds": 86400,
                    "watchers": 0,
                    "commitsPerSecond": 0.0,
                    "memoryBytes": 25165824,
                    "limits": {"bodyBytes": 16777216, "batchCount": 1000, "pageSize": 1000, "documentBytes": 1048576}
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async -> Result {
        let storage = await context.store.storage()
        return Result(
            database: context.databaseName,
            position: context.store.position,
            writeObstacle: await context.store.writeObstacle,
            uptime: ContinuousClock.now - context.server.startTime,
            limits: context.server.limits,
            index: await context.store.indexes().fields,
            size: storage?.size,
            storage: storage,
            sessionCount: context.sessions.visible(to: context.caller).count,
            activity: context.caller.collections == nil ? activity(in: context) : nil
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
