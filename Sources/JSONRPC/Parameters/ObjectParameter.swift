package import StrictJSON

/// A parameter type that is a JSON object with declared members; undeclared names are rejected.
///
/// Members are declared like the parameters of a method, so that decoding and schema have one source:
///
/// ```swift
/// struct Order: ObjectParameter {
///     static let schemaName = "Order"
///     static let field = Parameter<FieldPath>("field", "The field to order by.")
///     static let descending = Parameter<Bool?>("descending", "Largest first.")
///     static let members: [any ParameterDescription] = [field, descending]
///
///     init(from members: Arguments) throws(RPCError) {
///         self.field = try members[Self.field]
///         self.isDescending = try members[Self.descending] ?? false
///     }
/// }
/// ```
package protocol ObjectParameter: ParameterValue {
    /// The name of the schema in the OpenRPC document's components: ASCII letters and digits.
    static var schemaName: String { get }
    static var members: [any ParameterDescription] { get }

    init(from members: Arguments) throws(RPCError)
}

extension ObjectParameter {
    package static var schema: JSONSchema {
        .component(schemaName, of: Self.self) {
            .object(members.map(JSONSchema.Property.init))
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        try self.init(from: Arguments(object: json, at: location, declared: Self.members))
    }
}
