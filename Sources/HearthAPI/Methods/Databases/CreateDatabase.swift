package import DocumentModel
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `databases.create`: creates an additional database.
package enum CreateDatabase: RPCMethod {
    private static let database = Parameter<String>(
        "name",
        "The new database, as project/database, or its ID alone within the server's default project."
    )

    package static let name: UTF8Key = "databases.create"
    package static let summary =
        "Creates an empty database. This is optional: the first write to a database creates it, too, with the role writer."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [database]
    package static let result = ResultDescription(
        "result",
        .object([.init("name", .string(), "The name for the database parameter: project/database.")]),
        "The new database."
    )
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The name is invalid."),
        ErrorDescription(status: .alreadyExists, "The database exists."),
        ErrorDescription(status: .resourceExhausted, "Too many databases are in use, or the disk is full."),
        ErrorDescription(status: .unimplemented, "The server has only one database."),
        ErrorDescription(status: .unavailable, "The database cannot currently be created."),
    ]
    package static let examples = [
        RPCExample("a staging database", params: #"{"name": "staging"}"#, result: #"{"name": "hearth/staging"}"#)
    ]

    package static func params(from arguments: Arguments) throws -> String {
        try arguments[database]
    }

    package static func call(_ params: String, in context: ServiceContext) async throws(StatusError) -> DatabaseID {
        let id = try DatabaseID(params, inProject: context.defaultDatabase.project)
        try context.caller.requireAccessToDatabase()
        guard let databases = context.databases else {
            throw StatusError(
                .unimplemented,
                "This server has only the database \(Excerpt(context.defaultDatabase.description))."
            )
        }
        try context.requirePrimary()
        try await context.audited(.createDatabase, on: id.description) { () async throws(StatusError) in
            try await databases.create(id)
        }
        return id
    }

    package static func write(_ result: DatabaseID, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(DatabaseKeys.name, result.description)
        writer.endObject()
    }
}
