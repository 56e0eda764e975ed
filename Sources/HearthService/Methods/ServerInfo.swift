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
        /// How many watch streams are open.
        package let watcherCount: Int
        /// How fast commits came in the last minutes.
        package let rates: ServerActivity.Rates
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
            .init("uptimeSeconds", .integer(minimum: 0), "How long the server has been running."),
            .init("watchers", .integer(minimum: 0), "How many watch streams are open."),
            .init("commitsPerSecond", .number, "How fast commits came in about the last minute."),
            .init(
                "memoryBytes",
                .integer(minimum: 0),
                "How much memory the server takes; absent where the system does not tell.",
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
        Result(
            database: context.databaseName,
            position: context.store.position,
            writeObstacle: await context.store.writeObstacle,
            uptime: ContinuousClock.now - context.server.startTime,
            limits: context.server.limits,
            index: await context.store.indexes().fields,
            watcherCount: context.server.activity.watcherCount,
            rates: context.server.activity.rates,
            residentBytes: ProcessMemory.residentBytes
        )
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("name")
        writer.string(ServerDescription.name)
        writer.key("version")
        writer.string(ServerDescription.version)
        writer.key("database")
        writer.string(result.database.description)
        writer.key("epoch")
        writer.string(result.position.epoch)
        writer.key("sequence")
        writer.integer(Int64(result.position.lastSequence.rawValue))
        writer.key("oldestSequence")
        writer.integer(Int64(result.position.oldestKept.rawValue))
        if let time = result.position.lastCommitTime {
            writer.key("commitTime")
            writer.string(time.rfc3339)
        }
        writer.key("writable")
        writer.boolean(result.writeObstacle == nil)
        if let obstacle = result.writeObstacle {
            writer.key("writeObstacle")
            writer.string(obstacle.message)
        }
        writer.key("index")
        writer.beginObject()
        result.index.writeMembers(to: &writer)
        writer.endObject()
        writer.key("uptimeSeconds")
        writer.integer(result.uptime.components.seconds)
        writer.key("watchers")
        writer.integer(Int64(result.watcherCount))
        writer.key("commitsPerSecond")
        writer.double((result.rates.recent * 1_000).rounded() / 1_000)
        if let bytes = result.residentBytes {
            writer.key("memoryBytes")
            writer.integer(Int64(bytes))
        }
        writer.key("limits")
        writer.beginObject()
        writer.key("bodyBytes")
        writer.integer(Int64(result.limits.maximumBodyBytes))
        writer.key("batchCount")
        writer.integer(Int64(result.limits.maximumBatchCount))
        writer.key("pageSize")
        writer.integer(Int64(result.limits.maximumPageSize))
        writer.key("documentBytes")
        writer.integer(Int64(DocumentLimits.maximumDocumentBytes))
        writer.endObject()
        writer.endObject()
    }
}
