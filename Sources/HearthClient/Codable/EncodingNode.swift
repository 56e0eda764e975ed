internal import DocumentModel
internal import StrictJSON

/// One value that is being encoded: the encoder that the value is given, and what it has put into it so far.
final class EncodingNode: CodingNode {
    let session: EncodingSession
    let parent: EncodingNode?
    /// The key at which the value stands; nil at the top.
    let key: (any CodingKey)?
    /// The name of its field; nil for the top and for elements of arrays.
    private let name: UTF8Key?
    /// Whether the keys of this map are a dictionary's, and stay as they are.
    private let isDictionary: Bool

    private var content = Content.nothing
    private var members: [(key: UTF8Key, value: Value)] = []
    private var elements: [Value] = []
    /// Nested containers and super encoders: what they are is taken at the end.
    private var nested: [(index: Int, node: EncodingNode)] = []

    private enum Content {
        case nothing
        case single(Value)
        case map
        case array
        /// There is to be no field: it is the document's id, or the server fills it in.
        case absent
    }

    /// The top of a document.
    init(_ session: EncodingSession) {
        self.session = session
        parent = nil
        key = nil
        name = nil
        isDictionary = false
    }

    init(in parent: EncodingNode, at key: (any CodingKey)?, named name: UTF8Key?, isDictionary: Bool = false) {
        session = parent.session
        self.parent = parent
        self.key = key
        self.name = name
        self.isDictionary = isDictionary
    }

    func error(_ value: Any, at key: (any CodingKey)?, _ description: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath(to: key), debugDescription: description))
    }

    /// What was encoded; nil when there is to be no field.
    private func finish() -> Value? {
        switch content {
        case .nothing: return .map(MapValue())
        case .single(let value): return value
        case .absent: return nil
        case .array:
            for (index, node) in nested { elements[index] = node.finish() ?? .null }
            return .array(elements)
        case .map:
            for (index, node) in nested.reversed() {
                if let value = node.finish() { members[index].value = value } else { members.remove(at: index) }
            }
            return .map(MapValue(members))
        }
    }
}

extension EncodingNode {
    func becomeMap() {
        switch content {
        case .nothing:
            content = .map
            members.reserveCapacity(8)
        case .map: break
        default: preconditionFailure("A value can't be a map and something else as well, at \(FieldNames(codingPath)).")
        }
    }

    func becomeArray() {
        switch content {
        case .nothing: content = .array
        case .array: break
        default: preconditionFailure("A value can't be an array and something else as well, at \(FieldNames(codingPath)).")
        }
    }

    func become(_ value: Value?) {
        guard case .nothing = content else {
            preconditionFailure("A value can't be encoded twice, at \(FieldNames(codingPath)).")
        }
        content = value.map(Content.single) ?? .absent
    }

    /// Leaves the field out, since the document's id is not part of its data.
    func becomeDocumentID() throws(FirestoreEncodingError) {
        guard name != nil else {
            throw .encodingIsNotSupported("DocumentID values are left out of maps, and can stand nowhere else.")
        }
        become(nil)
    }

    var elementCount: Int { elements.count }

    func append(_ value: Value, named name: UTF8Key) {
        members.append((name, value))
    }

    func append(_ value: Value) {
        elements.append(value)
    }

    /// The name of the field for a key.
    func name(for key: some CodingKey) -> UTF8Key {
        guard !isDictionary, session.strategies.convertsKeys else { return UTF8Key(key.stringValue) }
        switch session.strategies.key {
        case .useDefaultKeys: return UTF8Key(key.stringValue)
        case .convertToSnakeCase: return UTF8Key(SnakeCase.fromCamelCase(key.stringValue))
        case .custom(let convert): return UTF8Key(convert(codingPath(to: key)).stringValue)
        }
    }

    /// A member whose value is known later. Asked again for one that is being made, it is the same.
    func nestedMember(at key: some CodingKey, named name: UTF8Key) -> EncodingNode {
        for (index, node) in nested where members[index].key == name { return node }
        let node = EncodingNode(in: self, at: key, named: name)
        nested.append((members.count, node))
        members.append((name, .null))
        return node
    }

    /// An element whose value is known later.
    func nestedElement() -> EncodingNode {
        let node = EncodingNode(in: self, at: PlaceKey.index(elements.count), named: nil)
        nested.append((elements.count, node))
        elements.append(.null)
        return node
    }

    /// What a value is in a document; nil when there is to be no field.
    func value<T: Encodable>(of value: T, at key: (any CodingKey)?, named name: UTF8Key?) throws -> Value? {
        if let known = try knownValue(of: value, at: key) { return known }
        if ObjectIdentifier(T.self) == Known.sentinel, let sentinel = value as? FieldValue {
            try note(sentinel, at: key, named: name)
            return nil
        }
        let isDictionary = session.strategies.convertsKeys && T.self is any StringKeyed.Type
        let node = EncodingNode(in: self, at: key, named: name, isDictionary: isDictionary)
        try node.encodeItself(value)
        return node.finish()
    }

    /// The value that this node itself is.
    func note(_ sentinel: FieldValue) throws {
        guard let parent else { throw error(sentinel, at: nil, "A FieldValue is no document.") }
        try parent.note(sentinel, at: key, named: name)
    }

    private func note(_ sentinel: FieldValue, at key: (any CodingKey)?, named name: UTF8Key?) throws {
        guard let name, let names = names else {
            throw error(sentinel, at: key, "A FieldValue can't stand in an array; it is the value of a field.")
        }
        session.note(sentinel, at: try FieldPath(segments: names + [name]))
    }

    /// The names from the top down to this value; nil inside an array.
    private var names: [UTF8Key]? {
        guard let parent else { return [] }
        guard key != nil else { return parent.names }
        guard let name else { return nil }
        return parent.names.map { $0 + [name] }
    }
}

/// A coding path for a message: `cover.Index 0.small`.
struct FieldNames: CustomStringConvertible {
    let description: String

    init(_ path: [any CodingKey]) {
        description = path.isEmpty ? "the top" : path.map(\.stringValue).joined(separator: ".")
    }
}
