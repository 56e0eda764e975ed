public import UTF8Text

/// A value in a parsed JSON text.
///
/// A node is a reference into its text and keeps the text alive. The text is already validated, so accessors do not
/// throw: they return `nil` for a value of another kind.
public struct JSONNode: Sendable {
    private let storage: JSONText.Storage
    private let index: Int

    init(_ storage: JSONText.Storage, at index: Int) {
        self.storage = storage
        self.index = index
    }

    /// The six kinds of JSON values.
    public enum Kind: Sendable, Hashable {
        /// `null`.
        case null
        /// `true` or `false`.
        case boolean
        /// A number, with or without a fraction and an exponent.
        case number
        /// A string.
        case string
        /// An array.
        case array
        /// An object.
        case object
    }

    /// The kind of the value.
    public var kind: Kind {
        switch entry.kind {
        case .null: .null
        case .false, .true: .boolean
        case .integer, .double: .number
        case .string, .escapedString: .string
        case .array: .array
        case .object: .object
        }
    }

    /// The offset of the value in the text, in bytes.
    public var offset: Int { Int(entry.start) }

    /// The source bytes of the value.
    public var rawBytes: ArraySlice<UInt8> { storage.bytes[Int(entry.start)..<Int(entry.end)] }

    /// Returns the line and column of the value, both from 1. Columns count Unicode scalars.
    ///
    /// Scans the text before the value.
    public func position() -> (line: Int, column: Int) {
        storage.bytes.withUnsafeBufferPointer { $0.position(ofByteAt: offset) }
    }

    /// True if the value is `null`.
    public var isNull: Bool { entry.kind == .null }

    /// The boolean, or `nil` for another kind.
    public var boolean: Bool? {
        switch entry.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// The number, or `nil` for another kind.
    public var number: JSONNumber? {
        let entry = entry
        guard entry.kind == .integer || entry.kind == .double else { return nil }
        return storage.bytes.withUnsafeBufferPointer { text in
            let literal = UnsafeBufferPointer(rebasing: text[Int(entry.start)..<Int(entry.end)])
            return entry.kind == .integer ? JSONNumber(integerLiteral: literal) : JSONNumber(doubleLiteral: literal)
        }
    }

    /// The unescaped string, or `nil` for another kind.
    public var string: String? {
        let entry = entry
        guard entry.kind == .string || entry.kind == .escapedString else { return nil }
        return storage.bytes.withUnsafeBufferPointer { JSONStringBody(entry, in: $0).string }
    }

    /// The number of elements of an array or members of an object; 0 for any other kind.
    public var count: Int { entry.count }

    private var entry: JSONTapeEntry { storage.tape[index] }
}

extension JSONNode {
    /// The elements of an array, or `nil` for another kind.
    public var elements: Elements? {
        guard entry.kind == .array else { return nil }
        return Elements(storage: storage, first: index + 1, count: entry.count)
    }

    /// The members of an object in source order, or `nil` for another kind.
    public var members: Members? {
        guard entry.kind == .object else { return nil }
        return Members(storage: storage, first: index + 1, count: entry.count)
    }

    /// The value of a member; `nil` if the object has no such member, or if the node is not an object.
    ///
    /// A linear search that does not copy the keys.
    public subscript(_ key: UTF8Key) -> JSONNode? {
        guard entry.kind == .object else { return nil }
        let found: Int? = storage.bytes.withUnsafeBufferPointer { text in
            key.withBytes { expected in
                var candidate = index + 1
                for _ in 0..<entry.count {
                    let body = JSONStringBody(storage.tape[candidate], in: text)
                    if body.withUnescaped({ $0.hasSameBytes(as: expected) }) { return candidate + 1 }
                    candidate = Int(storage.tape[candidate + 1].next)
                }
                return nil
            }
        }
        return found.map { JSONNode(storage, at: $0) }
    }

    /// A sequence of the elements of an array.
    public struct Elements: Sequence, IteratorProtocol, Sendable {
        private let storage: JSONText.Storage
        private var index: Int
        private var remaining: Int

        fileprivate init(storage: JSONText.Storage, first: Int, count: Int) {
            self.storage = storage
            self.index = first
            self.remaining = count
        }

        /// The number of remaining elements.
        public var underestimatedCount: Int { remaining }

        /// The next element.
        public mutating func next() -> JSONNode? {
            guard remaining > 0 else { return nil }
            defer {
                index = Int(storage.tape[index].next)
                remaining -= 1
            }
            return JSONNode(storage, at: index)
        }
    }

    /// A sequence of the members of an object, with unescaped keys.
    public struct Members: Sequence, IteratorProtocol, Sendable {
        private let storage: JSONText.Storage
        private var index: Int
        private var remaining: Int

        fileprivate init(storage: JSONText.Storage, first: Int, count: Int) {
            self.storage = storage
            self.index = first
            self.remaining = count
        }

        /// The number of remaining members.
        public var underestimatedCount: Int { remaining }

        /// The next member.
        public mutating func next() -> (key: UTF8Key, value: JSONNode)? {
            guard remaining > 0 else { return nil }
            let value = index + 1
            defer {
                index = Int(storage.tape[value].next)
                remaining -= 1
            }
            let key = storage.bytes.withUnsafeBufferPointer { JSONStringBody(storage.tape[index], in: $0).string }
            return (UTF8Key(key), JSONNode(storage, at: value))
        }
    }
}
