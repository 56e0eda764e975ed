package import StrictJSON

/// A type that can be decoded from a parameter.
package protocol ParameterValue: Sendable {
    /// The schema of accepted values, for the OpenRPC document.
    static var schema: JSONSchema { get }

    /// The value of an absent parameter; `nil` makes the parameter required.
    static var defaultValue: Self? { get }

    /// Decodes the value.
    ///
    /// - Throws: ``ParameterLocation/expected(_:got:)`` for a wrong JSON type, ``ParameterLocation/invalid(_:got:)`` for an
    ///   invalid value.
    init(json: JSONNode, at location: ParameterLocation) throws(RPCError)
}

extension ParameterValue {
    package static var defaultValue: Self? {
        nil
    }
}

extension String: ParameterValue {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let string = json.string else { throw location.expected("a string", got: json) }
        self = string
    }
}

extension Bool: ParameterValue {
    package static var schema: JSONSchema {
        .boolean
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let boolean = json.boolean else { throw location.expected("true or false", got: json) }
        self = boolean
    }
}

extension Int: ParameterValue {
    package static var schema: JSONSchema {
        .integer()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        switch json.number {
        case .integer(let integer): self = Int(integer)
        case .double: throw location.invalid("expected an integer without fraction or exponent", got: json)
        case .outOfRange: throw location.invalid("expected a 64-bit integer", got: json)
        case nil: throw location.expected("an integer", got: json)
        }
    }
}

extension Array: ParameterValue where Element: ParameterValue {
    package static var schema: JSONSchema {
        .array(of: Element.schema)
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let elements = json.elements else { throw location.expected("an array", got: json) }
        self = []
        reserveCapacity(json.count)
        for element in elements {
            append(try Element(json: element, at: .element(count, of: location)))
        }
    }
}

/// An optional parameter: `nil` if absent or null.
extension Optional: ParameterValue where Wrapped: ParameterValue {
    package static var schema: JSONSchema {
        Wrapped.schema
    }

    package static var defaultValue: Self? {
        .some(.none)
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = json.isNull ? nil : try Wrapped(json: json, at: location)
    }
}
