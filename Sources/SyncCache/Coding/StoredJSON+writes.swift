internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

/// The members of a stored write: the path, the operation with its fields, transforms and precondition.
private enum WriteKeys {
    static let path: UTF8Key = "path"
    static let replace: UTF8Key = "replace"
    static let patch: UTF8Key = "patch"
    static let mask: UTF8Key = "mask"
    static let delete: UTF8Key = "delete"
    static let verify: UTF8Key = "verify"
    static let transforms: UTF8Key = "transforms"
    static let exists: UTF8Key = "exists"
    static let updateTime: UTF8Key = "updateTime"
}

/// The members of a stored transform: the field, and one operation with its operand.
private enum TransformKeys {
    static let field: UTF8Key = "field"
    static let serverTimestamp: UTF8Key = "serverTimestamp"
    static let increment: UTF8Key = "increment"
    static let maximum: UTF8Key = "maximum"
    static let minimum: UTF8Key = "minimum"
    static let arrayUnion: UTF8Key = "arrayUnion"
    static let arrayRemove: UTF8Key = "arrayRemove"
}

// MARK: Writes

extension StoredJSON {
    /// Encodes the writes of a batch: an array of objects. Decoding returns equal ones, which the form of the RPCs does not promise:
    /// it has no order in a mask.
    static func encode(_ writes: [Write]) -> [UInt8] {
        encode { writer in
            writer.beginArray()
            for write in writes { writer.write(write) }
            writer.endArray()
        }
    }

    /// Encodes the writes of a new batch, and makes sure that they can be decoded.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if they cannot, since they are beyond all limits.
    static func encode(verified writes: [Write]) throws(StatusError) -> [UInt8] {
        let bytes = encode(writes)
        do {
            guard try self.writes(bytes) == writes else { throw CacheDatabaseError(corruption: "decoding returns other writes") }
        } catch {
            throw StatusError(.invalidArgument, "The writes cannot be queued: \((error as? StatusError)?.message ?? "\(error)")")
        }
        return bytes
    }

    static func writes(_ bytes: [UInt8]) throws -> [Write] {
        try root(of: bytes).array().map { try Write(stored: $0) }
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ write: Write) {
        beginObject()
        key(WriteKeys.path)
        string(write.path.string)
        switch write.operation {
        case .replace(let fields):
            key(WriteKeys.replace)
            fields.write(to: &self)
        case .patch(let fields, let mask):
            key(WriteKeys.patch)
            fields.write(to: &self)
            key(WriteKeys.mask)
            self.write(mask)
        case .delete:
            key(WriteKeys.delete)
            boolean(true)
        case .verify:
            key(WriteKeys.verify)
            boolean(true)
        }
        if !write.transforms.isEmpty {
            key(WriteKeys.transforms)
            beginArray()
            for transform in write.transforms { self.write(transform) }
            endArray()
        }
        switch write.precondition {
        case .none: break
        case .exists(let exists):
            key(WriteKeys.exists)
            boolean(exists)
        case .updateTime(let time):
            key(WriteKeys.updateTime)
            integer(time.microseconds)
        }
        endObject()
    }

    private mutating func write(_ transform: FieldTransform) {
        beginObject()
        key(TransformKeys.field)
        string(transform.field.description)
        switch transform.operation {
        case .serverTimestamp:
            key(TransformKeys.serverTimestamp)
            boolean(true)
        case .increment(let operand): write(TransformKeys.increment, operand)
        case .maximum(let operand): write(TransformKeys.maximum, operand)
        case .minimum(let operand): write(TransformKeys.minimum, operand)
        case .arrayUnion(let elements): write(TransformKeys.arrayUnion, elements)
        case .arrayRemove(let elements): write(TransformKeys.arrayRemove, elements)
        }
        endObject()
    }

    private mutating func write(_ key: UTF8Key, _ operand: Value) {
        self.key(key)
        operand.write(to: &self)
    }

    private mutating func write(_ key: UTF8Key, _ elements: [Value]) {
        self.key(key)
        beginArray()
        for element in elements { element.write(to: &self) }
        endArray()
    }
}

extension Write {
    fileprivate init(stored json: JSONNode) throws {
        let operation: Operation
        if let fields = json[WriteKeys.replace] {
            operation = .replace(try MapValue(json: fields))
        } else if let fields = json[WriteKeys.patch] {
            operation = .patch(try MapValue(json: fields), mask: try json.member(WriteKeys.mask).fieldPaths())
        } else if json[WriteKeys.delete] != nil {
            operation = .delete
        } else {
            _ = try json.member(WriteKeys.verify)
            operation = .verify
        }
        let precondition: Precondition =
            if let exists = json[WriteKeys.exists]?.boolean {
                .exists(exists)
            } else if let time = json[WriteKeys.updateTime] {
                .updateTime(try time.time())
            } else {
                .none
            }
        self.init(
            path: try DocumentPath(json.member(WriteKeys.path).text()),
            operation: operation,
            transforms: try json[WriteKeys.transforms]?.array().map { try FieldTransform(stored: $0) } ?? [],
            precondition: precondition
        )
    }
}

extension FieldTransform {
    fileprivate init(stored json: JSONNode) throws {
        let operation: Operation
        if let operand = json[TransformKeys.increment] {
            operation = .increment(try Value(json: operand))
        } else if let operand = json[TransformKeys.maximum] {
            operation = .maximum(try Value(json: operand))
        } else if let operand = json[TransformKeys.minimum] {
            operation = .minimum(try Value(json: operand))
        } else if let elements = json[TransformKeys.arrayUnion] {
            operation = .arrayUnion(try elements.array().map { try Value(json: $0) })
        } else if let elements = json[TransformKeys.arrayRemove] {
            operation = .arrayRemove(try elements.array().map { try Value(json: $0) })
        } else {
            _ = try json.member(TransformKeys.serverTimestamp)
            operation = .serverTimestamp
        }
        self.init(field: try FieldPath(json.member(TransformKeys.field).text()), operation: operation)
    }
}
