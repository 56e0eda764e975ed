package import DocumentModel
package import JSONRPC
package import UTF8Text

/// `databases.delete`: deletes an additional database.
package enum DeleteDatabase: RPCMethod {
    private static let database = Parameter<String>(
        "name",
        "The database, as project/database, or its ID alone within the server's default project."
    )

    package static let name: UTF8Key = "databases.delete"
    package static let summary =
        "Permanently deletes a database with its documents and their history. Its streams are closed and its transactions expire."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [database]
    package static let result = ResultDescription("result", .object([]), "An empty object.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The name is invalid."),
        ErrorDescription(status: .notFound, "The database does not exist."),
        ErrorDescription(status: .failedPrecondition, "The default database cannot be deleted."),
        ErrorDescription(status: .unavailable, "The files cannot currently be removed."),
    ]
    package static let examples = [RPCExample("a test database", params: #"{"name": "tests"}"#, result: "{}")]

    package static func params(from arguments: Arguments) throws -> String {
        try arguments[database]
    }

    package static func call(_ params: String, in context: ServiceContext) async throws(StatusError) {
        let id = try DatabaseID(params, inProject: context.defaultDatabase.project)
        guard let databases = context.databases else {
            throw StatusError(.notFound, "No database \(Excerpt(id.description)) exists.")
        }
        try context.requirePrimary()
        try await context.audited(.deleteDatabase, on: id.description) { () async throws(StatusError) in
            try await databases.delete(id)
        }
    }
}
