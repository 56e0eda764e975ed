internal import StrictJSON

extension Document {
    /// The size of a document by Firestore's formula, in bytes: its name, its fields and 32 more.
    ///
    /// It is what limits a document, and does not depend on how the document is stored. A text counts its UTF-8 bytes and
    /// one more, a number or timestamp 8, a boolean or null 1, a geo point 16, bytes their length, a vector 8 for each
    /// dimension, an array or map the sum of what it holds, a field its name and its value. A name counts its ids, 8 for a
    /// numeric one, and 16 more. An empty map counts 1, or a document could hold any number of them.
    public static func size(of fields: MapValue, at path: DocumentPath) -> Int {
        path.nameSize + fields.size + 32
    }
}

extension UTF8Key {
    /// What a field's name adds to a document.
    var size: Int { byteCount + 1 }
}

extension DocumentPath {
    fileprivate var nameSize: Int {
        pathSegments.reduce(16) { size, segment in size + (Identifier.number(of: segment) == nil ? segment.count + 1 : 8) }
    }
}

extension MapValue {
    fileprivate var size: Int {
        reduce(0) { size, member in size + member.key.size + member.value.size }
    }
}

extension Value {
    fileprivate var size: Int {
        switch self {
        case .array(let value): value.reduce(0) { $0 + $1.size }
        case .map(let value): Swift.max(value.size, 1)
        default: ownSize
        }
    }

    /// What the value adds to a document, without the values in it.
    var ownSize: Int {
        switch self {
        case .null, .boolean: 1
        case .integer, .double, .timestamp: 8
        case .string(let value): value.utf8.count + 1
        case .bytes(let value): value.count
        case .reference(let value): value.nameSize
        case .geoPoint: 16
        case .vector(let value): 8 * value.count
        case .array: 0
        case .map(let value): value.isEmpty ? 1 : 0
        }
    }
}
