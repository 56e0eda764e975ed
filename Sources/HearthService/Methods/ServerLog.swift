import DocumentModel
package import JSONRPC
import Logging
package import StrictJSON

/// `server.log`: what the server has logged last.
package enum ServerLog: RPCMethod {
    package static let name: UTF8Key = "server.log"
    package static let summary =
        "Gives the last lines of the server's log, from the level info on: no more than 200, of all databases, since the server was started."
    package static let right = Role.admin
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription(
        "log",
        .object([
            .init(
                "lines",
                .array(
                    of: .object([
                        .init("time", Timestamp.schema, "When it was logged."),
                        .init("level", .string(values: Logger.Level.allCases.map(\.rawValue)), "How much it matters."),
                        .init("message", .string(), "What has happened."),
                        .init("details", .map(of: .string()), "What goes with it, as strings by their names."),
                    ])
                ),
                "The lines, the oldest first."
            )
        ]),
        "The log."
    )
    package static let examples = [RPCExample("nothing was logged yet", params: "{}", result: #"{"lines": []}"#)]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async -> [RecentLog.Line] {
        context.server.log.lines
    }

    package static func write(_ result: [RecentLog.Line], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("lines")
        writer.beginArray()
        for line in result {
            writer.beginObject()
            writer.key("time")
            writer.string(line.time.rfc3339)
            writer.key("level")
            writer.string(line.level.rawValue)
            writer.key("message")
            writer.string(line.message)
            writer.key("details")
            writer.beginObject()
            for (name, value) in line.details {
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
