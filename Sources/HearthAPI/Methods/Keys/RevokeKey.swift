package import DocumentModel
package import JSONRPC
package import UTF8Text

/// `keys.revoke`: revokes an API key and closes its streams.
package enum RevokeKey: RPCMethod {
    private static let id = Parameter<String>("id", "The key ID, as returned by keys.list.")

    package static let name: UTF8Key = "keys.revoke"
    package static let summary = "Revokes an API key and closes its streams."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [id]
    package static let result = ResultDescription("nothing", .object([]), "An empty object.")
    package static let errors = [
        ErrorDescription(status: .notFound, "The key does not exist."),
        ErrorDescription(status: .resourceExhausted, "The disk is full."),
        ErrorDescription(status: .unavailable, "The keys cannot currently be written."),
    ]
    package static let examples = [RPCExample("a key", params: #"{"id": "5f0c1e9ab3d2"}"#, result: "{}")]

    package static func params(from arguments: Arguments) throws -> UTF8Key {
        UTF8Key(try arguments[id])
    }

    package static func call(_ params: UTF8Key, in context: ServiceContext) async throws(StatusError) {
        try context.requireAuthenticatedCaller()
        try context.requirePrimary()
        // A key that was passed in place of its ID must not appear in a log.
        let target = APIKeyText.hasKeyPrefix(params.string) ? nil : params.string
        try await context.audited(.revokeKey, on: target) { () async throws(StatusError) in try await context.keys.revoke(params)
        }
    }
}
