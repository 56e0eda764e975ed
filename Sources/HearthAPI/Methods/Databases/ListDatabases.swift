package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `databases.list`: lists the databases.
package enum ListDatabases: RPCMethod {
    package static let name: UTF8Key = "databases.list"
    package static let summary =
        "Lists the existing databases: the default database first, then additional databases sorted by name."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = []
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                "databases",
                .array(
                    of: .object([
                        .init("name", .string(), "The name for the database parameter: project/database."),
                        .init("project", .string(), "The project ID."),
                        .init("database", .string(), "The database ID within the project."),
                        .init("isDefault", .boolean, "Whether it is the default database."),
                    ])
                ),
                "The databases."
            )
        ]),
        "The databases."
    )
    package static let errors = [ErrorDescription(status: .unavailable, "The databases cannot currently be listed.")]
    package static let examples = [
        RPCExample(
            "the default and an additional database",
            params: "{}",
            result: #"""
                {
                    "databases": [
                        {"name": "hearth/(default)", "project": "hearth", "database": "(default)", "isDefault": true},
                        {"name": "hearth/tests", "project": "hearth", "database": "tests", "isDefault": false}
                    ]
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws {}

    package static func call(_ params: Void, in context: ServiceContext) async throws(StatusError) -> [DatabaseID] {
        try context.caller.requireAccessToDatabase()
        return try await context.databases?.all() ?? [context.defaultDatabase]
    }

    package static func write(_ result: [DatabaseID], to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(DatabaseKeys.databases, of: Array(result.enumerated())) { element, writer in
            writer.beginObject()
            writer.member(DatabaseKeys.name, element.element.description)
            writer.member(DatabaseKeys.project, element.element.project.string)
            writer.member(DatabaseKeys.database, element.element.database.string)
            writer.member(DatabaseKeys.isDefault, element.offset == 0)
            writer.endObject()
        }
        writer.endObject()
    }
}
