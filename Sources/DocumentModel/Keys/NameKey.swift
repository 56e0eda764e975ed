internal import UTF8Text

/// An order-preserving key of a document name; ``KeyEncoder`` defines the encoding.
///
/// Keys of IDs order the documents of one collection, keys of paths all documents. The key of a path is the key of its
/// collection's path followed by the key of its ID.
package struct NameKey: Hashable, Sendable {
    /// The encoded bytes.
    package let bytes: [UInt8]

    /// Creates the key of a document ID.
    package init(_ id: DocumentPath.ID) {
        var encoder = KeyEncoder()
        encoder.append(id)
        bytes = encoder.bytes
    }

    /// Creates the key of a document path.
    package init(_ path: DocumentPath) {
        var encoder = KeyEncoder()
        encoder.append(path)
        bytes = encoder.bytes
    }

    /// Creates the common prefix of the keys of all documents in a collection and below it.
    package init(_ path: CollectionPath) {
        var encoder = KeyEncoder()
        encoder.append(path)
        bytes = encoder.bytes
    }

    /// The exclusive upper bound of all keys with this prefix.
    package var prefixUpperBound: [UInt8] { bytes + [0xff] }

    /// The tag byte before the number of a numeric ID.
    static let numericTag: UInt8 = 1
    /// The tag byte before the text of any other ID.
    static let textTag: UInt8 = 2
}

extension DocumentPath.ID {
    /// Decodes the key of an ID, or returns `nil` for any other bytes.
    package init?(nameKey bytes: some Collection<UInt8>) {
        guard let segments = Self.segments(ofNameKey: bytes), segments.count == 1 else { return nil }
        self.init(unchecked: segments[0])
    }

    fileprivate static func segments(ofNameKey bytes: some Collection<UInt8>) -> [UTF8Key]? {
        var segments: [UTF8Key] = []
        var rest = Array(bytes)[...]
        while let tag = rest.popFirst() {
            switch tag {
            case NameKey.numericTag:
                guard rest.count >= 8 else { return nil }
                let bits = rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
                segments.append(UTF8Key("__id\(Int64(bitPattern: bits ^ (1 << 63)))__"))
                rest = rest.dropFirst(8)
            case NameKey.textTag:
                guard let text = Self.text(&rest) else { return nil }
                segments.append(text)
            default:
                return nil
            }
        }
        return segments
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) -> UTF8Key? {
        guard let end = rest.firstIndex(of: 0) else { return nil }
        defer { rest = rest[(end + 1)...] }
        let escaped = rest[..<end]
        guard escaped.contains(1) else { return UTF8Key(validating: escaped) }
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in escaped {
            if isEscaped { bytes.append(byte - 1) } else if byte != 1 { bytes.append(byte) }
            isEscaped = !isEscaped && byte == 1
        }
        return UTF8Key(validating: bytes)
    }
}

extension DocumentPath {
    /// Decodes the key of a path, or returns `nil` for any other bytes.
    package init?(nameKey bytes: some Collection<UInt8>) {
        guard let segments = DocumentPath.ID.segments(ofNameKey: bytes), !segments.isEmpty, segments.count.isMultiple(of: 2)
        else {
            return nil
        }
        let collection = segments.dropLast().map(\.string).joined(separator: "/")
        self.init(
            collection: CollectionPath(unchecked: UTF8Key(collection)),
            id: DocumentPath.ID(unchecked: segments[segments.count - 1])
        )
    }
}
