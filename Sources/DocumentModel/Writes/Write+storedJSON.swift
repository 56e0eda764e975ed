package import StrictJSON
internal import UTF8Text

/// The members of a stored write: the path, the operation with its fields, transforms and precondition.
private enum StoredWriteKeys {
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
private enum StoredTransformKeys {
    static let field: UTF8Key = "field"
    static let serverTimestamp: UTF8Key = "serverTimestamp"
    static let increment: UTF8Key = "increment"
    static let maximum: UTF8Key = "maximum"
    static let minimum: UTF8Key = "minimum"
    static let arrayUnion: UTF8Key = "arrayUnion"
    static let arrayRemove: UTF8Key = "arrayRemove"
}

extension Write {
    /// Writes the write as an object from which ``init(storedJSON:)`` makes an equal one, which the form of the RPCs does not promise: it has
    /// no order in a mask.
    package func write(storedTo writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(StoredWriteKeys.path)
        writer.string(path.string)
        switch operation {
        case .replace(let fields):
            writer.key(StoredWriteKeys.replace)
            fields.write(to: &writer)
        case .patch(let fields, let mask):
            writer.key(StoredWriteKeys.patch)
            fields.write(to: &writer)
            writer.key(StoredWriteKeys.mask)
            writer.beginArray()
            for field in mask { writer.string(field.description) }
            writer.endArray()
        case .delete:
            writer.key(StoredWriteKeys.delete)
            writer.boolean(true)
        case .verify:
            writer.key(StoredWriteKeys.verify)
            writer.boolean(true)
        }
        if !transforms.isEmpty {
            writer.key(StoredWriteKeys.transforms)
            writer.beginArray()
            for transform in transforms { transform.write(storedTo: &writer) }
            writer.endArray()
        }
        switch precondition {
        case .none: break
        case .exists(let exists):
            writer.key(StoredWriteKeys.exists)
            writer.boolean(exists)
        case .updateTime(let time):
            writer.key(StoredWriteKeys.updateTime)
            writer.integer(time.microseconds)
        }
        writer.endObject()
    }

    /// Decodes a write that ``write(storedTo:)`` has encoded. It may exceed the limits of documents.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for any other value.
    package init(storedJSON json: JSONNode) throws(StatusError) {
        let operation: Operation
        if let fields = json[StoredWriteKeys.replace] {
            operation = .replace(try MapValue(json: fields))
        } else if let fields = json[StoredWriteKeys.patch] {
            var mask: [FieldPath] = []
            for element in try json[StoredWriteKeys.mask].storedElements() { mask.append(try FieldPath(element.storedText())) }
            operation = .patch(try MapValue(json: fields), mask: mask)
        } else if json[StoredWriteKeys.delete] != nil {
            operation = .delete
        } else if json[StoredWriteKeys.verify] != nil {
            operation = .verify
        } else {
            throw .invalidStoredWrite("it has no operation")
        }
        let precondition: Precondition
        if let exists = json[StoredWriteKeys.exists]?.boolean {
            precondition = .exists(exists)
        } else if let time = json[StoredWriteKeys.updateTime] {
            guard case .integer(let microseconds)? = time.number else { throw .invalidStoredWrite("a value is not a time") }
            precondition = .updateTime(try Timestamp(microseconds: microseconds))
        } else {
            precondition = .none
        }
        var transforms: [FieldTransform] = []
        if let json = json[StoredWriteKeys.transforms] {
            for element in try json.storedElements() { transforms.append(try FieldTransform(storedJSON: element)) }
        }
        self.init(
            path: try DocumentPath(json[StoredWriteKeys.path].storedText()),
            operation: operation,
            transforms: transforms,
            precondition: precondition
        )
    }
}

extension FieldTransform {
    fileprivate func write(storedTo writer: inout JSONWriter) {
        func write(_ key: UTF8Key, _ operand: Value) {
            writer.key(key)
            operand.write(to: &writer)
        }
        func write(_ key: UTF8Key, _ elements: [Value]) {
            writer.key(key)
            writer.beginArray()
            for element in elements { element.write(to: &writer) }
            writer.endArray()
        }
        writer.beginObject()
        writer.key(StoredTransformKeys.field)
        writer.string(field.description)
        switch operation {
        case .serverTimestamp:
            writer.key(StoredTransformKeys.serverTimestamp)
            writer.boolean(true)
        case .increment(let operand): write(StoredTransformKeys.increment, operand)
        case .maximum(let operand): write(StoredTransformKeys.maximum, operand)
        case .minimum(let operand): write(StoredTransformKeys.minimum, operand)
        case .arrayUnion(let elements): write(StoredTransformKeys.arrayUnion, elements)
        case .arrayRemove(let elements): write(StoredTransformKeys.arrayRemove, elements)
        }
        writer.endObject()
    }

    fileprivate init(storedJSON json: JSONNode) throws(StatusError) {
        func values(_ json: JSONNode) throws(StatusError) -> [Value] {
            var values: [Value] = []
            for element in try json.storedElements() { values.append(try Value(json: element)) }
            return values
        }
        let operation: Operation
        if let operand = json[StoredTransformKeys.increment] {
            operation = .increment(try Value(json: operand))
        } else if let operand = json[StoredTransformKeys.maximum] {
            operation = .maximum(try Value(json: operand))
        } else if let operand = json[StoredTransformKeys.minimum] {
            operation = .minimum(try Value(json: operand))
        } else if let elements = json[StoredTransformKeys.arrayUnion] {
            operation = .arrayUnion(try values(elements))
        } else if let elements = json[StoredTransformKeys.arrayRemove] {
            operation = .arrayRemove(try values(elements))
        } else if json[StoredTransformKeys.serverTimestamp] != nil {
            operation = .serverTimestamp
        } else {
            throw .invalidStoredWrite("a transform has no operation")
        }
        self.init(field: try FieldPath(json[StoredTransformKeys.field].storedText()), operation: operation)
    }
}

extension JSONNode? {
    fileprivate func storedText() throws(StatusError) -> String {
        guard let text = self?.string else { throw .invalidStoredWrite("a value is not a string") }
        return text
    }

    fileprivate func storedElements() throws(StatusError) -> JSONNode.Elements {
        guard let elements = self?.elements else { throw .invalidStoredWrite("a value is not an array") }
        return elements
    }
}

extension JSONNode {
    fileprivate func storedText() throws(StatusError) -> String { try Optional(self).storedText() }

    fileprivate func storedElements() throws(StatusError) -> JSONNode.Elements { try Optional(self).storedElements() }
}

extension StatusError {
    fileprivate static func invalidStoredWrite(_ reason: String) -> StatusError {
        StatusError(.invalidArgument, "A stored write cannot be decoded: \(reason).")
    }
}
