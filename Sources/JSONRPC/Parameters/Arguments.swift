package import StrictJSON

/// What a call gave for the declared parameters, by name or by position.
///
/// The shape is checked when it is made: an unknown name, a position too many or a required parameter left out is an
/// ``RPCErrorCode/invalidParams`` error. The values are decoded as they are asked for:
///
/// ```swift
/// let path = try arguments[Self.path]
/// ```
package struct Arguments: Sendable {
    private let declared: [any ParameterDescription]
    /// What was given, beside the declaration that it belongs to.
    private var given: [JSONNode?]
    private let isByPosition: Bool
    /// Where the parameters stand as a whole.
    package let location: ParameterLocation

    /// Takes the parameters of a method.
    ///
    /// - Parameter params: The call's `params`: an object, an array, or nothing.
    init(_ params: JSONNode?, declared: [any ParameterDescription]) throws(RPCError) {
        self.declared = declared
        self.given = Array(repeating: nil, count: declared.count)
        self.isByPosition = params?.kind == .array
        self.location = .params
        if let elements = params?.elements {
            try take(positions: elements)
        } else if let members = params?.members {
            try take(names: members)
        }
        try checkRequired()
    }

    /// Takes the members of an object somewhere inside the parameters.
    package init(
        object node: JSONNode,
        at location: ParameterLocation,
        declared: [any ParameterDescription]
    ) throws(RPCError) {
        guard let members = node.members else { throw location.expected("an object", got: node) }
        self.declared = declared
        self.given = Array(repeating: nil, count: declared.count)
        self.isByPosition = false
        self.location = location
        try take(names: members)
        try checkRequired()
    }

    /// The value of a declared parameter.
    package subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        get throws(RPCError) {
            guard let index = index(of: parameter.name) else {
                throw RPCError(.internalError, "\(location).\(parameter.name) is read but not declared")
            }
            if let value = given[index] {
                return try Value(json: value, at: location(at: index))
            }
            guard let absent = Value.whenAbsent else { throw missing(at: index) }
            return absent
        }
    }

    /// Where a parameter stands in the call, for an error that concerns several parameters together.
    package func location(of parameter: some ParameterDescription) -> ParameterLocation {
        index(of: parameter.name).map { location(at: $0) } ?? location
    }

    private mutating func take(names members: JSONNode.Members) throws(RPCError) {
        for (name, value) in members {
            guard let index = index(of: name) else {
                throw .invalidParams(
                    at: "\(ParameterLocation.member(name, of: location))",
                    reason: "unknown name; known here: \(knownNames)",
                    got: "\(value.kind)"
                )
            }
            given[index] = value
        }
    }

    private mutating func take(positions elements: JSONNode.Elements) throws(RPCError) {
        for (index, value) in elements.enumerated() {
            guard index < declared.count else {
                throw .invalidParams(
                    at: "\(ParameterLocation.element(index, of: location))",
                    reason: "one position too many; known here: \(knownNames)",
                    got: "\(value.kind)"
                )
            }
            given[index] = value
        }
    }

    private func checkRequired() throws(RPCError) {
        for index in declared.indices where given[index] == nil && declared[index].isRequired {
            throw missing(at: index)
        }
    }

    private func missing(at index: Int) -> RPCError {
        .invalidParams(at: "\(location(at: index))", reason: "\(declared[index].name) is required")
    }

    private func index(of name: UTF8Key) -> Int? {
        declared.firstIndex { $0.name == name }
    }

    private func location(at index: Int) -> ParameterLocation {
        isByPosition ? .element(index, of: location) : .member(declared[index].name, of: location)
    }

    private var knownNames: String {
        declared.isEmpty ? "none" : declared.map(\.name.string).joined(separator: ", ")
    }
}
