internal import StrictJSON

/// A document's name as bytes that compare as names do: see ``KeyEncoder`` for the bytes.
///
/// The key of an ID orders the documents of one collection, that of a path all documents. The key of a path is that of its
/// collection's path with that of its ID behind it.
package struct NameKey: Hashable, Sendable {
    /// The bytes.
    package let bytes: [UInt8]

    /// The key of a document's name in its collection.
    package init(_ id: DocumentID) {
        var encoder = KeyEncoder()
        encoder.append(id)
        bytes = encoder.bytes
    }

    /// The key of a document's path.
    package init(_ path: DocumentPath) {
        var encoder = KeyEncoder()
        encoder.append(path)
        bytes = encoder.bytes
    }

    /// What the keys of all documents in a collection or below it begin with.
    package init(_ path: CollectionPath) {
        var encoder = KeyEncoder()
        encoder.append(path)
        bytes = encoder.bytes
    }

    /// The least bytes behind all keys that begin with this one.
    package var firstBehindAll: [UInt8] { bytes + [0xff] }

    /// What stands before a numeric ID's number.
    static let numberMark: UInt8 = 1
    /// What stands before the text of any other ID.
    static let textMark: UInt8 = 2
}

extension DocumentID {
    /// Reads a key back; nil when it is not one of an ID.
    package init?(nameKey bytes: some Collection<UInt8>) {
        guard let segments = Self.segments(ofNameKey: bytes), segments.count == 1 else { return nil }
        self.init(unchecked: segments[0])
    }

    fileprivate static func segments(ofNameKey bytes: some Collection<UInt8>) -> [UTF8Key]? {
        var segments: [UTF8Key] = []
        var rest = Array(bytes)[...]
        while let mark = rest.popFirst() {
            switch mark {
            case NameKey.numberMark:
                guard rest.count >= 8 else { return nil }
                let bits = rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
                segments.append(UTF8Key("__id\(Int64(bitPattern: bits ^ (1 << 63)))__"))
                rest = rest.dropFirst(8)
            case NameKey.textMark:
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
    /// Reads a path's key back; nil when it is not one.
    package init?(nameKey bytes: some Collection<UInt8>) {
        guard let segments = DocumentID.segments(ofNameKey: bytes), !segments.isEmpty, segments.count.isMultiple(of: 2) else {
            return nil
        }
        let collection = segments.dropLast().map(\.string).joined(separator: "/")
        self.init(
            collection: CollectionPath(unchecked: UTF8Key(collection)),
            id: DocumentID(unchecked: segments[segments.count - 1])
        )
    }
}
