package import DocumentModel
import DocumentStore
package import JSONRPC
package import UTF8Text

/// `server.promote`: makes a standby a primary.
package enum PromoteServer: RPCMethod {
    private static let force = Parameter<Bool?>("force", "Whether to promote the standby though its primary is in operation.")

    package static let name: UTF8Key = "server.promote"
    package static let summary = """
        Makes a standby a primary. All its databases begin branches of their histories, which accept writes, and the server restarts. Stop \
        the former primary first: nothing keeps it from accepting writes that this server will not have.
        """
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [force]
    package static let result = ResultDescription("result", .object([]), "An empty object, sent before the server restarts.")
    package static let errors = [
        ErrorDescription(status: .failedPrecondition, "The server is no standby, or its primary is in operation."),
        ErrorDescription(status: .resourceExhausted, "The disk is full."),
    ]
    package static let examples = [RPCExample("a standby", params: "{}", result: "{}")]

    package static func params(from arguments: Arguments) throws -> Bool {
        try arguments[force] ?? false
    }

    package static func call(_ params: Bool, in context: ServiceContext) async throws(StatusError) {
        try context.caller.requireAccessToDatabase()
        guard let standby = context.server.standby, let replication = context.databases?.host.replication else {
            throw StatusError(.failedPrecondition, "The server is no standby: it accepts writes.")
        }
        guard params || !standby.isPrimaryAlive || standby.isPromoted else {
            throw StatusError(
                .failedPrecondition,
                "The primary, \(standby.primary), is in operation. Stop it first: writes that it accepts from now on would be missing "
                    + "here. To promote this server anyway, pass force (hearth promote --force)."
            )
        }
        guard params || standby.confirmed != nil || standby.isPromoted else {
            throw StatusError(
                .failedPrecondition,
                "This standby has not had all commits of its primary at any time since it started"
                    + (standby.failure.map { " (\($0.message))" } ?? "")
                    + ". To promote it anyway, pass force (hearth promote --force)."
            )
        }
        try await context.audited(.promoteServer) { () async throws(StatusError) in
            if !standby.isPromoted { try await replication.promote() }
        }
        standby.didPromote()
    }
}
