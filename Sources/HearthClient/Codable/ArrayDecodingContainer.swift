internal import DocumentModel
internal import UTF8Text

/// The unkeyed decoding container of an array.
struct ArrayDecodingContainer: UnkeyedDecodingContainer {
    let node: DecodingNode
    let elements: [Value]
    private(set) var currentIndex = 0

    init(node: DecodingNode, elements: [Value]) {
        self.node = node
        self.elements = elements
    }

    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex == elements.count }

    private var key: AnyCodingKey { AnyCodingKey.index(currentIndex) }

    /// Decodes the next element, and advances if that succeeds.
    private mutating func next<Result>(_ read: (Value, DecodingNode, AnyCodingKey) throws -> Result) throws -> Result {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Result.self,
                .init(
                    codingPath: node.codingPath(to: key),
                    debugDescription:
                        "Expected another element, found the end of the array after \(elements.count.counted("element"))."
                )
            )
        }
        let result = try read(elements[currentIndex], node, key)
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { return try next { _, _, _ in true } }
        guard case .null = elements[currentIndex] else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try next { try $1.decode(type, from: $0, at: $2) }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        try next { try DecodingNode($0, in: $1, at: $2).container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try DecodingNode($0, in: $1, at: $2).unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Swift.Decoder {
        try next { DecodingNode($0, in: $1, at: $2) }
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $1.boolean($0, $2) } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try $1.string($0, $2) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try $1.double($0, $2) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try $1.float($0, $2) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $1.integer($0, $2) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $1.integer($0, $2) } }
}
