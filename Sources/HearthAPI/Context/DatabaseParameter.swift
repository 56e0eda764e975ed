import DocumentModel
import DocumentStore
import JSONRPC
import UTF8Text

extension SharedParameter<ServiceContext> {
    /// The parameter that selects the database of a call.
    static let database = SharedParameter(
        Parameter<String?>(
            "database",
            "The database, as project/database, or its ID alone within the server's default project. Default: the default database. "
                + "A database that does not exist reads as empty and is created by the first write."
        ),
        errors: [
            ErrorDescription(status: .invalidArgument, "The database name is invalid."),
            ErrorDescription(status: .notFound, "The database does not exist on this server."),
            ErrorDescription(status: .resourceExhausted, "Too many databases are in use."),
            ErrorDescription(status: .unavailable, "The database cannot currently be opened."),
            ErrorDescription(status: .dataLoss, "The database is damaged."),
        ]
    ) { (name: String, location, context) throws(RPCError) in
        do throws(StatusError) {
            return try await context.inDatabase(named: name)
        } catch {
            throw RPCError(error, at: location)
        }
    }
}
