import DocumentModel
import DocumentStore
import JSONRPC
import StrictJSON

extension SharedParameter<ServiceContext> {
    /// Names the database, as Firestore's clients do. A server has one, so any other is not found.
    static let database = SharedParameter(
        Parameter<String?>("database", "The database: \(defaultName), or its epoch as server.info gives it."),
        refusedWith: ErrorDescription(status: .notFound, "There is no such database here.")
    ) { (name: String, location, context) throws(RPCError) in
        let name = UTF8Key(name)
        guard name != defaultName, name != UTF8Key(context.store.position.epoch) else { return }
        throw RPCError(
            StatusError(
                .notFound,
                "There is no database \(Excerpt(name.string)) here. This server has one, which is called \(defaultName); "
                    + "leave the parameter out, or give the address of the server that has the other."
            ),
            at: location
        )
    }

    private static let defaultName: UTF8Key = "(default)"
}
