package import StrictJSON
import UTF8Text

/// The arguments of a call, by name or by position, matched to the declared parameters.
///
/// Initialization validates the shape: an unknown name, an extra positional argument or a missing required parameter is an
/// ``RPCErrorCode/invalidParams`` error. Values are decoded on access:
///
/// ```swift
/// let path = try arguments[Self.path]
/// ```
package struct Arguments: Sendable {
    private let declared: [any ParameterDescription]
    /// The argument of each declared parameter; `nil` if absent.
    private var values: [JSONNode?]
    private let isByPosition: Bool
    /// The location of the arguments as a whole.
    package let location: ParameterLocation
    /// The size of their JSON.
    package let byteCount: Int

    /// Creates the arguments of a method call.
    ///
    /// - Parameter params: The call's `params`: an object, an array or `nil`.
    init(_ params: JSONNode?, declared: [any ParameterDescription]) throws(RPCError) {
        self.declared = declared
        self.values = Array(repeating: nil, count: declared.count)
        self.isByPosition = params?.kind == .array
        self.location = .params
        self.byteCount = params?.rawBytes.count ?? 0
        if let elements = params?.elements {
            try assign(positional: elements)
        } else if let members = params?.members {
            try assign(named: members)
        }
        try checkRequired()
    }

    /// Creates the arguments of an object nested in the parameters.
    package init(
        object node: JSONNode,
        at location: ParameterLocation,
        declared: [any ParameterDescription]
    ) throws(RPCError) {
        guard let members = node.members else { throw location.expected("an object", got: node) }
        self.declared = declared
        self.values = Array(repeating: nil, count: declared.count)
        self.isByPosition = false
        self.location = location
        self.byteCount = node.rawBytes.count
        try assign(named: members)
        try checkRequired()
    }

    /// Decodes the value of a declared parameter.
    package subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        get throws(RPCError) {
            guard let index = index(of: parameter.name) else {
                throw RPCError(.internalError, "\(location).\(parameter.name) is read but not declared")
            }
            if let value = values[index] {
                return try Value(json: value, at: location(at: index))
            }
            guard let defaultValue = Value.defaultValue else { throw missingArgument(at: index) }
            return defaultValue
        }
    }

    /// Returns whether there is an argument for a parameter, other than null.
    package func contains(_ parameter: some ParameterDescription) -> Bool {
        index(of: parameter.name).flatMap { values[$0] }.map { $0.kind != .null } ?? false
    }

    /// Returns the location of a parameter, for errors that concern several parameters.
    package func location(of parameter: some ParameterDescription) -> ParameterLocation {
        index(of: parameter.name).map { location(at: $0) } ?? location
    }

    private mutating func assign(named members: JSONNode.Members) throws(RPCError) {
        for (name, value) in members {
            guard let index = index(of: name) else {
                throw .invalidParams(
                    at: "\(ParameterLocation.member(name, of: location))",
                    reason: "unknown name; expected one of: \(knownNames)",
                    got: "\(value.kind)"
                )
            }
            values[index] = value
        }
    }

    private mutating func assign(positional elements: JSONNode.Elements) throws(RPCError) {
        for (index, value) in elements.enumerated() {
            guard index < declared.count else {
                throw .invalidParams(
                    at: "\(ParameterLocation.element(index, of: location))",
                    reason: "too many positional parameters; expected: \(knownNames)",
                    got: "\(value.kind)"
                )
            }
            values[index] = value
        }
    }

    private func checkRequired() throws(RPCError) {
        for index in declared.indices where values[index] == nil && declared[index].isRequired {
            throw missingArgument(at: index)
        }
    }

    private func missingArgument(at index: Int) -> RPCError {
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
