import StrictJSON
import UTF8Text

/// A valid request object.
struct RPCRequest: Sendable {
    /// The source text of the `id`, echoed byte for byte; `nil` for a notification, which gets no response.
    let id: ArraySlice<UInt8>?
    let method: UTF8Key
    /// An object or an array; `nil` if absent.
    let params: JSONNode?

    /// The error for JSON that is not a valid request, with the `id` to respond with if there is one.
    struct ValidationError: Error {
        let id: ArraySlice<UInt8>?
        let error: RPCError
    }

    init(_ node: JSONNode) throws(ValidationError) {
        guard node.kind == .object else {
            throw ValidationError(id: nil, reason: "expected a request object, found \(node.kind.withArticle)")
        }
        let id = node["id"]
        switch id?.kind {
        case nil, .null, .number, .string: break
        case .boolean, .array, .object: throw ValidationError(id: nil, reason: "id must be a string, a number or null")
        }
        self.id = id?.rawBytes

        guard let version = node["jsonrpc"]?.string, UTF8Key(version) == "2.0" else {
            throw ValidationError(id: self.id, reason: "jsonrpc must be the string \"2.0\"")
        }
        guard let method = node["method"]?.string else {
            throw ValidationError(id: self.id, reason: "method must be a string")
        }
        self.method = UTF8Key(method)
        guard self.method.byteCount <= MethodDescription.maximumNameBytes else {
            throw ValidationError(
                id: self.id,
                reason: "the method name is too long",
                data: ["limit": .integer(MethodDescription.maximumNameBytes), "got": .integer(self.method.byteCount)]
            )
        }
        let params = node["params"]
        switch params?.kind {
        // Widely used clients send null where the specification requires the member to be absent.
        case nil, .null: self.params = nil
        case .object, .array: self.params = params
        case .boolean, .number, .string: throw ValidationError(id: self.id, reason: "params must be an object or an array")
        }
    }
}

extension RPCRequest.ValidationError {
    init(id: ArraySlice<UInt8>?, reason: String, data: RPCErrorData = [:]) {
        self.id = id
        self.error = .invalidRequest(reason, data: data)
    }
}

extension JSONNode.Kind {
    fileprivate var withArticle: String {
        switch self {
        case .null: "null"
        case .array, .object: "an \(self)"
        case .boolean, .number, .string: "a \(self)"
        }
    }
}
