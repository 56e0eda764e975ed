internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

/// The JSON in columns of the cache: the values of fields as Hearth encodes them everywhere.
enum StoredJSON {
    /// Fields nest in up to 20 levels, each of which may be tagged, and in a few levels of other members.
    private static let limits = JSONLimits(maximumBytes: JSONLimits.maximumTextBytes, maximumDepth: 64)

    /// Returns the JSON that `body` writes.
    static func encode(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 256)
        body(&writer)
        return writer.finish()
    }

    /// Returns the root of the JSON in a column.
    static func root(of bytes: [UInt8]) throws -> JSONNode {
        try JSONText(bytes, limits: limits).root
    }
}

// MARK: Fields

extension StoredJSON {
    static func encode(_ fields: MapValue) -> [UInt8] {
        encode { fields.write(to: &$0) }
    }

    /// Encodes fields that nobody has validated, and makes sure that they can be decoded: an unknown document may be patched beyond all
    /// limits.
    static func encode(verified fields: MapValue, at path: DocumentPath) throws(StatusError) -> [UInt8] {
        let bytes = encode(fields)
        do {
            guard try self.fields(bytes) == fields else { throw CacheDatabaseError(corruption: "decoding returns other fields") }
        } catch {
            throw StatusError(
                .invalidArgument,
                "The writes to \(path.string) cannot be queued: \((error as? StatusError)?.message ?? "\(error)")",
                path: path.string
            )
        }
        return bytes
    }

    static func fields(_ bytes: [UInt8]) throws -> MapValue {
        try MapValue(json: root(of: bytes))
    }

    /// Decodes those of the fields at the top level that are asked for.
    static func fields(_ root: JSONNode, among names: Set<UTF8Key>) throws -> MapValue {
        guard let members = root.members, root.count > 1 else { return try MapValue(json: root) }
        return MapValue(
            try members.compactMap { member in
                names.contains(member.key) ? (key: member.key, value: try Value(json: member.value)) : nil
            }
        )
    }

    /// Encodes a mask: an array of field paths.
    static func encode(_ mask: [FieldPath]) -> [UInt8] {
        encode { $0.write(mask) }
    }

    static func mask(_ bytes: [UInt8]) throws -> [FieldPath] {
        try root(of: bytes).fieldPaths()
    }
}

extension JSONWriter {
    /// Writes an array of field paths.
    mutating func write(_ mask: [FieldPath]) {
        beginArray()
        for field in mask { string(field.description) }
        endArray()
    }
}

extension JSONNode {
    /// Returns the value of a member.
    ///
    /// - Throws: An error of corruption if there is none.
    func member(_ key: UTF8Key) throws(CacheDatabaseError) -> JSONNode {
        guard let member = self[key] else { throw CacheDatabaseError(corruption: "the member \(key) is missing") }
        return member
    }

    /// Returns the text of a string.
    func text() throws(CacheDatabaseError) -> String {
        guard let string else { throw CacheDatabaseError(corruption: "a value is not a string") }
        return string
    }

    /// Returns the elements of an array.
    func array() throws(CacheDatabaseError) -> JSONNode.Elements {
        guard let elements else { throw CacheDatabaseError(corruption: "a value is not an array") }
        return elements
    }

    /// Returns the microseconds of a time.
    func time() throws -> Timestamp {
        guard case .integer(let microseconds)? = number else { throw CacheDatabaseError(corruption: "a value is not a time") }
        return try Timestamp(microseconds: microseconds)
    }

    /// Returns the elements of an array of field paths.
    func fieldPaths() throws -> [FieldPath] {
        try array().map { try FieldPath($0.text()) }
    }
}
