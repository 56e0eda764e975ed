package import DocumentModel
package import StrictJSON
import UTF8Text

/// A protobuf message in ProtoJSON format with a known set of fields.
///
/// A null field counts as absent. Errors carry the path of the invalid field, such as `writes[3].updateMask`.
package struct ProtoMessage {
    private let fields: [ProtoField]
    private var values: [JSONNode?]

    /// Creates a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a value that is not an object, an unknown field, or a field present under both
    ///   of its names.
    package init(_ node: JSONNode, fields: [ProtoField]) throws(StatusError) {
        guard let members = node.members else { throw node.expected("an object") }
        self.fields = fields
        values = Array(repeating: nil, count: fields.count)
        for (key, value) in members {
            guard let index = fields.firstIndex(where: { $0.matches(key) }) else {
                throw StatusError(
                    .invalidArgument,
                    "Invalid JSON payload received. Unknown name \(Excerpt(key.string)): Cannot find field. Expected one of: "
                        + fields.map(\.name.string).joined(separator: ", ") + "."
                )
            }
            guard values[index] == nil else {
                throw StatusError(.invalidArgument, "The field \(fields[index].name) is present under both of its names.")
            }
            if !value.isNull { values[index] = value }
        }
    }

    /// Decodes a field, or returns `nil` if it is absent.
    package func read<Value>(
        _ field: ProtoField,
        _ body: (JSONNode) throws(StatusError) -> Value
    ) throws(StatusError) -> Value? {
        guard let index = fields.firstIndex(where: { $0.name == field.name }), let value = values[index] else { return nil }
        return try StatusError.locating(in: field.name.string) { () throws(StatusError) in try body(value) }
    }

    /// Decodes a required field.
    package func require<Value>(
        _ field: ProtoField,
        _ body: (JSONNode) throws(StatusError) -> Value
    ) throws(StatusError) -> Value {
        guard let value = try read(field, body) else {
            throw .missing(field.name.string)
        }
        return value
    }

    /// Decodes the elements of a repeated field.
    package func repeated<Element>(
        _ field: ProtoField,
        _ body: (JSONNode) throws(StatusError) -> Element
    ) throws(StatusError) -> [Element] {
        try read(field) { node throws(StatusError) in
            guard let nodes = node.elements else { throw node.expected("an array") }
            var elements: [Element] = []
            for node in nodes {
                do throws(StatusError) {
                    elements.append(try body(node))
                } catch {
                    throw error.prefixingPath(with: "[\(elements.count)]")
                }
            }
            return elements
        } ?? []
    }

    /// Decodes a oneof, or returns `nil` if none of its fields is present.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if more than one field is present.
    package func oneOf<Value>(
        _ choices: (ProtoField, (JSONNode) throws(StatusError) -> Value)...
    ) throws(StatusError) -> Value? {
        var found: Value?
        for (field, body) in choices {
            guard let value = try read(field, body) else { continue }
            guard found == nil else {
                let names = choices.map(\.0.name.string).joined(separator: ", ")
                throw StatusError(.invalidArgument, "Expected at most one of \(names), found several.")
            }
            found = value
        }
        return found
    }
}

extension JSONLimits {
    /// The limits on a message. A nested map or array is three levels deep in the message's JSON, and a value has up to 20
    /// levels.
    package static let message = JSONLimits(maximumBytes: maximumTextBytes, maximumDepth: 100)
}
