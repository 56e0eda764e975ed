package import StrictJSON

/// A type that parameters can have.
package protocol ParameterValue: Sendable {
    /// What values are accepted, for the OpenRPC document.
    static var schema: JSONSchema { get }

    /// The value of a parameter that the call left out; `nil` makes the parameter required.
    static var whenAbsent: Self? { get }

    /// Takes the value from the call.
    ///
    /// - Throws: The error of ``ParameterLocation/expected(_:got:)`` for a wrong JSON type, of
    ///   ``ParameterLocation/invalid(_:got:)`` for a value that may not be.
    init(json: JSONNode, at location: ParameterLocation) throws(RPCError)
}

extension ParameterValue {
    package static var whenAbsent: Self? {
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
        case .double: throw location.invalid("expected an integer, without fraction or exponent", got: json)
        case .outOfRange: throw location.invalid("expected an integer of 64 bits", got: json)
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

/// An optional parameter: absent, or given as null, it is `nil`.
extension Optional: ParameterValue where Wrapped: ParameterValue {
    package static var schema: JSONSchema {
        Wrapped.schema
    }

    package static var whenAbsent: Self? {
        .some(.none)
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = json.isNull ? nil : try Wrapped(json: json, at: location)
    }
}
