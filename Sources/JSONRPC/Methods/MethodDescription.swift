package import StrictJSON
package import UTF8Text

/// The type-erased declaration of a method, from which its documentation is generated.
package struct MethodDescription: Sendable {
    package let name: UTF8Key
    package let summary: String
    /// The name of the permission that a caller needs.
    package let requiredPermission: String
    package let parameters: [any ParameterDescription]
    package let result: ResultDescription
    package let errors: [ErrorDescription]
    package let examples: [RPCExample]

    /// The maximum length of a method name in bytes.
    static let maximumNameBytes = 256

    /// Traps when the declaration is inconsistent or violates the rules of JSON-RPC and OpenRPC.
    func validate() {
        precondition((1...Self.maximumNameBytes).contains(name.byteCount), "\(name) is not a valid method name")
        precondition(!name.utf8.starts(with: "rpc.".utf8), "\(name): JSON-RPC reserves names that begin with rpc.")
        precondition(Set(parameters.map(\.name)).count == parameters.count, "\(name): duplicate parameter name")
        let requiredCount = parameters.prefix { $0.isRequired }.count
        precondition(
            !parameters.dropFirst(requiredCount).contains { $0.isRequired },
            "\(name): a required parameter follows an optional one"
        )
        precondition(Set(errors.map(\.code)).count == errors.count, "\(name): duplicate error code")
        precondition(!errors.contains { $0.code.isReserved }, "\(name): a declared error code is reserved by JSON-RPC")
        precondition(
            examples.allSatisfy { $0.params.root.kind == .object },
            "\(name): examples must have named parameters"
        )
    }

    /// Returns the description of the built-in `rpc.discover`.
    static func discover(
        requiredPermission: String,
        parameters: [any ParameterDescription],
        errors: [ErrorDescription]
    ) -> MethodDescription {
        MethodDescription(
            name: "rpc.discover",
            summary: "Returns this description of all methods, as an OpenRPC document.",
            requiredPermission: requiredPermission,
            parameters: parameters,
            result: ResultDescription("document", .map(of: .any), "An OpenRPC document."),
            errors: errors,
            examples: []
        )
    }
}

/// The result of a method.
package struct ResultDescription: Sendable {
    /// A short name for generated clients, such as `document`.
    package let name: String
    package let schema: JSONSchema
    package let description: String

    package init(_ name: String, _ schema: JSONSchema, _ description: String) {
        self.name = name
        self.schema = schema
        self.description = description
    }
}

/// An error that a method returns, and its condition.
package struct ErrorDescription: Sendable {
    package let code: RPCErrorCode
    /// The condition, in one sentence.
    package let message: String

    package init(_ code: RPCErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// An example call with its result.
package struct RPCExample: Sendable {
    package let name: String
    /// The named parameters. ``MethodTable`` decodes them on initialization, so that an example cannot be invalid.
    package let params: JSONText
    package let result: JSONText

    /// Creates an example from JSON literals; traps when one is not valid JSON.
    package init(_ name: String, params: StaticString, result: StaticString) {
        self.name = name
        self.params = Self.text(params, of: name)
        self.result = Self.text(result, of: name)
    }

    private static func text(_ text: StaticString, of name: String) -> JSONText {
        do {
            return try JSONText(text.description)
        } catch {
            preconditionFailure("the example \"\(name)\" is not valid JSON: \(error)")
        }
    }
}
