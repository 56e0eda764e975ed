package import DocumentModel
package import JSONRPC
package import StrictJSON

/// `databases.delete`: removes a database with all that is in it.
package enum DeleteDatabase: RPCMethod {
    private static let database = Parameter<String>(
        "name",
        "The database, as project/database, or by its name alone in the server's own project."
    )

    package static let name: UTF8Key = "databases.delete"
    package static let summary =
        "Deletes a database with all its documents and their history, for good. Its streams end, and its open transactions expire."
    package static let right = Role.admin
    package static let parameters: [any ParameterDescription] = [database]
    package static let result = ResultDescription("result", .object([]), "Nothing.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The name is none that a database can have."),
        ErrorDescription(status: .notFound, "There is no such database."),
        ErrorDescription(status: .failedPrecondition, "It is the default database, which can't be deleted."),
        ErrorDescription(status: .unavailable, "Its files can't be removed now."),
    ]
    package static let examples = [RPCExample("one of tests", params: #"{"name": "tests"}"#, result: "{}")]

    package static func params(from arguments: Arguments) throws -> String {
        try arguments[database]
    }

    package static func call(_ params: String, in context: ServiceContext) async throws(StatusError) {
        let id = try DatabaseID(params, inProject: context.defaultDatabase.project)
        guard let databases = context.databases else {
            throw StatusError(.notFound, "There is no database \(Excerpt(id.description)) here.")
        }
        try await databases.delete(id)
    }

    package static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.endObject()
    }
}
