import DocumentModel
import DocumentStore
import JSONRPC
import StrictJSON

extension SharedParameter<ServiceContext> {
    /// Selects the database that a call is in.
    static let database = SharedParameter(
        Parameter<String?>(
            "database",
            "The database, as project/database, or by its name alone in the server's own project; the server's default one when "
                + "absent. One that does not exist is empty, and is made by the first write."
        ),
        refusedWith: [
            ErrorDescription(status: .invalidArgument, "The database has a name that no database can have."),
            ErrorDescription(status: .notFound, "There is no such database here."),
            ErrorDescription(status: .resourceExhausted, "Too many databases are in use at the same time."),
            ErrorDescription(status: .unavailable, "The database can't be opened now."),
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
