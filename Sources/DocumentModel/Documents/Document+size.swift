internal import UTF8Text

extension Document {
    /// Returns the size of a document in bytes by Firestore's formula: name + fields + 32.
    ///
    /// The size limit applies to this number, which is independent of the storage format. A string counts as its UTF-8 bytes + 1,
    /// a number or timestamp as 8, a boolean or null as 1, a geo point as 16, bytes as their length, a vector as 8 per dimension,
    /// an array or map as the sum of its contents, and a field as its name and value. A document name counts as its segments (8
    /// for a numeric ID) + 16. An empty map counts as 1; otherwise a document could hold any number of them.
    public static func size(of fields: MapValue, at path: DocumentPath) -> Int {
        path.nameSize + fields.size + 32
    }
}

extension UTF8Key {
    /// The number of bytes that a field name adds to the document size.
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
        default: shallowSize
        }
    }

    /// The number of bytes that the value adds to the document size, without nested values.
    var shallowSize: Int {
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
