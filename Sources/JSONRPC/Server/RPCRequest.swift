import StrictJSON

/// One well-formed request object.
struct RPCRequest: Sendable {
    /// The source text of the id, to be echoed byte for byte; `nil` is a notification, which is never answered.
    let id: ArraySlice<UInt8>?
    let method: UTF8Key
    /// An object, an array, or nothing.
    let params: JSONNode?

    /// Why something is not a request, and the id to answer with as far as there is one.
    struct Refusal: Error {
        let id: ArraySlice<UInt8>?
        let error: RPCError
    }

    init(_ node: JSONNode) throws(Refusal) {
        guard node.kind == .object else {
            throw Refusal(id: nil, reason: "a request is an object, not \(node.kind.withArticle)")
        }
        let id = node["id"]
        switch id?.kind {
        case nil, .null, .number, .string: break
        case .boolean, .array, .object: throw Refusal(id: nil, reason: "the id is a string, a number or null")
        }
        self.id = id?.rawBytes

        guard let version = node["jsonrpc"]?.string, UTF8Key(version) == "2.0" else {
            throw Refusal(id: self.id, reason: "the member jsonrpc is exactly the string \"2.0\"")
        }
        guard let method = node["method"]?.string else {
            throw Refusal(id: self.id, reason: "the member method is a string")
        }
        self.method = UTF8Key(method)
        guard self.method.byteCount <= MethodDescription.maximumNameBytes else {
            throw Refusal(
                id: self.id,
                reason: "the name of the method is too long",
                data: ["limit": .integer(MethodDescription.maximumNameBytes), "got": .integer(self.method.byteCount)]
            )
        }
        let params = node["params"]
        switch params?.kind {
        // Clients in wide use send null where the specification wants the member left out.
        case nil, .null: self.params = nil
        case .object, .array: self.params = params
        case .boolean, .number, .string: throw Refusal(id: self.id, reason: "the member params is an object or an array")
        }
    }
}

extension RPCRequest.Refusal {
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
