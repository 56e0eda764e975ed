import DocumentModel
import StrictJSON

/// A message of the protocol as it is written in JSON, whose fields are known.
///
/// A field that is null counts as absent. What is wrong is told with its place, such as `writes[3].updateMask`.
struct Message {
    private let fields: [MessageField]
    private var values: [JSONNode?]

    /// - Throws: ``StatusCode/invalidArgument`` for what is no object, an unknown field, and one that is given by both names.
    init(_ node: JSONNode, fields: [MessageField]) throws(StatusError) {
        guard let members = node.members else { throw node.expected("an object") }
        self.fields = fields
        values = Array(repeating: nil, count: fields.count)
        for (key, value) in members {
            guard let index = fields.firstIndex(where: { $0.isNamed(key) }) else {
                throw StatusError(
                    .invalidArgument,
                    "Invalid JSON payload received. Unknown name \(Excerpt(key.string)): Cannot find field. Known here: "
                        + fields.map(\.name.string).joined(separator: ", ") + "."
                )
            }
            guard values[index] == nil else {
                throw StatusError(.invalidArgument, "The field \(fields[index].name) is given twice, by both of its names.")
            }
            if !value.isNull { values[index] = value }
        }
    }

    /// What a field is read as; nil when it is absent.
    func read<Value>(
        _ field: MessageField,
        _ body: (JSONNode) throws(StatusError) -> Value
    ) throws(StatusError) -> Value? {
        guard let index = fields.firstIndex(where: { $0.name == field.name }), let value = values[index] else { return nil }
        do throws(StatusError) {
            return try body(value)
        } catch {
            throw error.inside(place: field.name.string)
        }
    }

    /// What a field is read as that has to be there.
    func require<Value>(
        _ field: MessageField,
        _ body: (JSONNode) throws(StatusError) -> Value
    ) throws(StatusError) -> Value {
        guard let value = try read(field, body) else {
            throw StatusError(.invalidArgument, "Expected a \(field.name.string).")
        }
        return value
    }

    /// What the elements of a repeated field are read as.
    func list<Element>(
        _ field: MessageField,
        _ body: (JSONNode) throws(StatusError) -> Element
    ) throws(StatusError) -> [Element] {
        try read(field) { node throws(StatusError) in
            guard let nodes = node.elements else { throw node.expected("an array") }
            var elements: [Element] = []
            for node in nodes {
                do throws(StatusError) {
                    elements.append(try body(node))
                } catch {
                    throw error.inside(place: "[\(elements.count)]")
                }
            }
            return elements
        } ?? []
    }

    /// What the one of several fields is read as that is given; nil when none of them is.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when more than one is.
    func one<Value>(
        of choices: (MessageField, (JSONNode) throws(StatusError) -> Value)...
    ) throws(StatusError) -> Value? {
        var found: Value?
        for (field, body) in choices {
            guard let value = try read(field, body) else { continue }
            guard found == nil else {
                let names = choices.map(\.0.name.string).joined(separator: ", ")
                throw StatusError(.invalidArgument, "Expected at most one of \(names), found more.")
            }
            found = value
        }
        return found
    }
}

extension StatusError {
    /// The same error seen from the message around: its place is inside a field, or an element such as `[3]`.
    func inside(place outer: String) -> StatusError {
        var error = self
        error.place =
            switch place {
            case nil: outer
            case .some(let inner) where inner.utf8.first == UInt8(ascii: "["): outer + inner
            case .some(let inner): outer + "." + inner
            }
        return error
    }

    /// The text for a client of this interface, which gets no places beside it.
    package var messageWithPlaces: String {
        var places: [String] = []
        if let writeIndex { places.append("writes[\(writeIndex)]") }
        if let place { places.append("at \(place)") }
        if let field { places.append("field \(Excerpt(field).text)") }
        return places.isEmpty ? message : message + " (" + places.joined(separator: ", ") + ")"
    }
}
