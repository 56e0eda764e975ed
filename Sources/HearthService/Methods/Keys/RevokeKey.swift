package import DocumentModel
package import JSONRPC
package import StrictJSON

/// `keys.revoke`: the end of a key.
package enum RevokeKey: RPCMethod {
    private static let id = Parameter<String>("id", "The ID of the key, as keys.list gives it.")

    package static let name: UTF8Key = "keys.revoke"
    package static let summary = "Revokes a key: it is refused from now on, and the streams that it has open are ended."
    package static let right = Role.admin
    package static let parameters: [any ParameterDescription] = [id]
    package static let result = ResultDescription("nothing", .object([]), "An empty object.")
    package static let errors = [
        ErrorDescription(status: .notFound, "There is no key of that ID."),
        ErrorDescription(status: .resourceExhausted, "There is no space left."),
        ErrorDescription(status: .unavailable, "The keys can't be written now."),
    ]
    package static let examples = [RPCExample("a key", params: #"{"id": "5f0c1e9ab3d2"}"#, result: "{}")]

    package static func params(from arguments: Arguments) throws -> UTF8Key {
        UTF8Key(try arguments[id])
    }

    package static func call(_ params: UTF8Key, in context: ServiceContext) async throws(StatusError) {
        try context.requireKnownCaller()
        try await context.keys.revoke(params)
    }

    package static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.endObject()
    }
}
