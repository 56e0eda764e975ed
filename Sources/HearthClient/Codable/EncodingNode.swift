internal import DocumentModel
internal import UTF8Text

/// A value being encoded. It is the `Encoder` passed to the value, and collects what the value encodes.
final class EncodingNode: CodingNode {
    let session: EncodingSession
    let parent: EncodingNode?
    /// The key in the enclosing value; `nil` at the root.
    let key: (any CodingKey)?
    /// The field name; `nil` for the root and for array elements.
    private let name: UTF8Key?
    /// True if this map is encoded from a dictionary, whose keys are exempt from the key strategy.
    private let isDictionary: Bool

    private var content = Content.empty
    private var members: [(key: UTF8Key, value: Value)] = []
    private var elements: [Value] = []
    /// The nested containers and super encoders, whose values are inserted by `finish()`.
    private var nested: [(index: Int, node: EncodingNode)] = []

    private enum Content {
        case empty
        case single(Value)
        case map
        case array
        /// The field is omitted: it is the document ID or a sentinel.
        case omitted
    }

    /// Creates the root node of a document.
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

    /// Returns the encoded value; `nil` if the field is omitted.
    private func finish() -> Value? {
        switch content {
        case .empty: return .map(MapValue())
        case .single(let value): return value
        case .omitted: return nil
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
    func beginMap() {
        switch content {
        case .empty:
            content = .map
            members.reserveCapacity(8)
        case .map: break
        default:
            preconditionFailure(
                "A value cannot be encoded as a map and as another type, at \(CodingPathDescription(codingPath))."
            )
        }
    }

    func beginArray() {
        switch content {
        case .empty: content = .array
        case .array: break
        default:
            preconditionFailure(
                "A value cannot be encoded as an array and as another type, at \(CodingPathDescription(codingPath))."
            )
        }
    }

    func setContent(_ value: Value?) {
        guard case .empty = content else {
            preconditionFailure("A value cannot be encoded twice, at \(CodingPathDescription(codingPath)).")
        }
        content = value.map(Content.single) ?? .omitted
    }

    /// Omits the field: the document ID is not part of the document's data.
    func omitDocumentID() throws(FirestoreEncodingError) {
        guard name != nil else {
            throw .encodingIsNotSupported("DocumentID values can only be properties of a type encoded as a map.")
        }
        setContent(nil)
    }

    var elementCount: Int { elements.count }

    func append(_ value: Value, named name: UTF8Key) {
        members.append((name, value))
    }

    func append(_ value: Value) {
        elements.append(value)
    }

    /// Returns the field name for a key.
    func name(for key: some CodingKey) -> UTF8Key {
        guard !isDictionary, session.strategies.convertsKeys else { return UTF8Key(key.stringValue) }
        switch session.strategies.key {
        case .useDefaultKeys: return UTF8Key(key.stringValue)
        case .convertToSnakeCase: return UTF8Key(SnakeCase.fromCamelCase(key.stringValue))
        case .custom(let convert): return UTF8Key(convert(codingPath(to: key)).stringValue)
        }
    }

    /// Returns the node for a map member whose value is encoded later; the same one for repeated calls with a key.
    func nestedMember(at key: some CodingKey, named name: UTF8Key) -> EncodingNode {
        for (index, node) in nested where members[index].key == name { return node }
        let node = EncodingNode(in: self, at: key, named: name)
        nested.append((members.count, node))
        members.append((name, .null))
        return node
    }

    /// Returns the node for an array element whose value is encoded later.
    func nestedElement() -> EncodingNode {
        let node = EncodingNode(in: self, at: AnyCodingKey.index(elements.count), named: nil)
        nested.append((elements.count, node))
        elements.append(.null)
        return node
    }

    /// Encodes a nested value; returns `nil` if the field is omitted.
    func value<T: Encodable>(of value: T, at key: (any CodingKey)?, named name: UTF8Key?) throws -> Value? {
        if let known = try nativeValue(of: value, at: key) { return known }
        if ObjectIdentifier(T.self) == NativeType.sentinel, let sentinel = value as? FieldValue {
            try recordSentinel(sentinel, at: key, named: name)
            return nil
        }
        let isDictionary = session.strategies.convertsKeys && T.self is any StringKeyedDictionary.Type
        let node = EncodingNode(in: self, at: key, named: name, isDictionary: isDictionary)
        try node.encodeViaCodable(value)
        return node.finish()
    }

    /// Records that this node's value is a sentinel.
    func recordSentinel(_ sentinel: FieldValue) throws {
        guard let parent else { throw error(sentinel, at: nil, "A FieldValue cannot be encoded as a document.") }
        try parent.recordSentinel(sentinel, at: key, named: name)
    }

    private func recordSentinel(_ sentinel: FieldValue, at key: (any CodingKey)?, named name: UTF8Key?) throws {
        guard let name, let names = names else {
            throw error(sentinel, at: key, "A FieldValue can only be the value of a field, not an array element.")
        }
        session.recordSentinel(sentinel, at: try FieldPath(segments: names + [name]))
    }

    /// The field names from the root to this value; `nil` inside an array.
    private var names: [UTF8Key]? {
        guard let parent else { return [] }
        guard key != nil else { return parent.names }
        guard let name else { return nil }
        return parent.names.map { $0 + [name] }
    }
}

/// A coding path formatted for error messages: `cover.Index 0.small`.
struct CodingPathDescription: CustomStringConvertible {
    let description: String

    init(_ path: [any CodingKey]) {
        description = path.isEmpty ? "the root" : path.map(\.stringValue).joined(separator: ".")
    }
}
