import DocumentModel
import StrictJSON
import UTF8Text

/// A protobuf message in ProtoJSON format with a known set of fields.
///
/// A null field counts as absent. Errors carry the path of the invalid field, such as `writes[3].updateMask`.
struct ProtoMessage {
    private let fields: [ProtoField]
    private var values: [JSONNode?]

    /// Creates a message.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a value that is not an object, an unknown field, or a field present under both
    ///   of its names.
    init(_ node: JSONNode, fields: [ProtoField]) throws(StatusError) {
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
    func read<Value>(
        _ field: ProtoField,
        _ body: (JSONNode) throws(StatusError) -> Value
    ) throws(StatusError) -> Value? {
        guard let index = fields.firstIndex(where: { $0.name == field.name }), let value = values[index] else { return nil }
        do throws(StatusError) {
            return try body(value)
        } catch {
            throw error.prefixingPath(with: field.name.string)
        }
    }

    /// Decodes a required field.
    func require<Value>(
        _ field: ProtoField,
        _ body: (JSONNode) throws(StatusError) -> Value
    ) throws(StatusError) -> Value {
        guard let value = try read(field, body) else {
            throw StatusError(.invalidArgument, "\(field.name.string) is required.")
        }
        return value
    }

    /// Decodes the elements of a repeated field.
    func repeated<Element>(
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
    func oneOf<Value>(
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

extension StatusError {
    /// Returns the error with its path prefixed by that of the enclosing field, or of an element such as `[3]`.
    func prefixingPath(with outer: String) -> StatusError {
        var error = self
        error.parameterPath =
            switch parameterPath {
            case nil: outer
            case .some(let inner) where inner.utf8.first == UInt8(ascii: "["): outer + inner
            case .some(let inner): outer + "." + inner
            }
        return error
    }

    /// The message with the locations that the error carries, since the protocol has no fields for them.
    package var messageWithLocation: String {
        var locations: [String] = []
        if let writeIndex { locations.append("writes[\(writeIndex)]") }
        if let parameterPath { locations.append("at \(parameterPath)") }
        if let field { locations.append("field \(Excerpt(field).text)") }
        return locations.isEmpty ? message : message + " (" + locations.joined(separator: ", ") + ")"
    }
}

extension JSONLimits {
    /// The limits on a message. A nested map or array is three levels deep in the message's JSON, and a value has up to 20
    /// levels.
    static let message = JSONLimits(maximumBytes: maximumTextBytes, maximumDepth: 100)
}
