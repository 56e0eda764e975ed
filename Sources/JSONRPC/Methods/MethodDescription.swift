package import StrictJSON

/// Everything that a method's type says of itself, without its types: what documentation is written from.
package struct MethodDescription: Sendable {
    package let name: UTF8Key
    package let summary: String
    /// The name of the right that a caller needs.
    package let right: String
    package let parameters: [any ParameterDescription]
    package let result: ResultDescription
    package let errors: [ErrorDescription]
    package let examples: [RPCExample]
}

/// What a method answers with.
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

/// An error that a method answers with, and when.
package struct ErrorDescription: Sendable {
    package let code: RPCErrorCode
    /// When it happens, in one sentence.
    package let message: String

    package init(_ code: RPCErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// A call that works, with its answer.
package struct RPCExample: Sendable {
    package let name: String
    /// An object: the parameters by name. They are decoded when the table is made, so that an example cannot be wrong.
    package let params: JSONText
    package let result: JSONText

    /// Makes an example of JSON texts in the source code; a text that is not JSON is a mistake there, and stops the program.
    package init(_ name: String, params: StaticString, result: StaticString) {
        self.name = name
        self.params = Self.text(params, of: name)
        self.result = Self.text(result, of: name)
    }

    private static func text(_ text: StaticString, of name: String) -> JSONText {
        do {
            return try JSONText(text.description)
        } catch {
            preconditionFailure("the example \"\(name)\" is not JSON: \(error)")
        }
    }
}
