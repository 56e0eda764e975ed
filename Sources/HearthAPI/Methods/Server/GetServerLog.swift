import DocumentModel
package import JSONRPC
import Logging
package import StrictJSON
package import UTF8Text

/// `server.log`: returns the most recent log entries.
package enum GetServerLog: RPCMethod {
    package static let name: UTF8Key = "server.log"
    package static let summary =
        "Returns the last 200 log entries of level info and above, for all databases, since the server started."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription(
        "log",
        .object([
            .init(
                "lines",
                .array(
                    of: .object([
                        .init("time", Timestamp.schema, "The time of the entry."),
                        .init("level", .string(values: Logger.Level.allCases.map(\.rawValue)), "The log level."),
                        .init("message", .string(), "The message."),
                        .init("details", .map(of: .string()), "The metadata, as strings by key."),
                    ])
                ),
                "The entries, oldest first."
            )
        ]),
        "The log entries."
    )
    package static let examples = [RPCExample("an empty log", params: "{}", result: #"{"lines": []}"#)]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async -> [RecentLog.Entry] {
        context.server.log.entries
    }

    package static func write(_ result: [RecentLog.Entry], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("lines")
        writer.beginArray()
        for entry in result {
            writer.beginObject()
            writer.key("time")
            writer.string(entry.time.rfc3339)
            writer.key("level")
            writer.string(entry.level.rawValue)
            writer.key("message")
            writer.string(entry.message)
            writer.key("details")
            writer.beginObject()
            for (name, value) in entry.details {
                writer.key(UTF8Key(name))
                writer.string(value)
            }
            writer.endObject()
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }
}
