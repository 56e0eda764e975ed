internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

extension Write {
    /// The method for a single write.
    var method: UTF8Key {
        switch verb {
        case .set: "documents.set"
        case .update: "documents.update"
        case .delete: "documents.delete"
        }
    }

    /// Writes an element of the `writes` parameter of `documents.commit`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch verb {
        case .set: writer.key("set")
        case .update: writer.key("update")
        case .delete: writer.key("delete")
        }
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
        writer.endObject()
    }

    /// Writes the parameters of ``method``.
    func writeMembers(to writer: inout JSONWriter) {
        writer.key("path")
        writer.string(path.string)
        switch operation {
        case .replace(let fields):
            writer.key("fields")
            fields.write(to: &writer)
        case .patch(let fields, let mask) where verb == .set:
            writer.key("fields")
            fields.write(to: &writer)
            writer.array("mergeFields", of: mask) { $0.string($1.description) }
            let deleted = mask.filter { fields[$0] == nil }
            if !deleted.isEmpty { writer.array("delete", of: deleted) { $0.string($1.description) } }
        case .patch(let fields, let mask):
            writer.writeUpdates(from: fields, mask: mask)
        case .delete: break
        }
        if !transforms.isEmpty { writer.array("transforms", of: transforms) { $1.write(to: &$0) } }
        precondition.write(to: &writer)
    }

    private enum Verb { case set, update, delete }

    /// The operation in the JSON-RPC API: a patch with a precondition is an update, without one a merging set.
    private var verb: Verb {
        switch operation {
        case .replace: .set
        case .patch: precondition == .none ? .set : .update
        case .delete: .delete
        }
    }
}

extension FieldTransform {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("field")
        writer.string(field.description)
        switch operation {
        case .serverTimestamp:
            writer.key("serverTimestamp")
            writer.boolean(true)
        case .increment(let operand):
            writer.key("increment")
            operand.write(to: &writer)
        case .maximum(let operand):
            writer.key("maximum")
            operand.write(to: &writer)
        case .minimum(let operand):
            writer.key("minimum")
            operand.write(to: &writer)
        case .arrayUnion(let elements): writer.array("arrayUnion", of: elements) { $1.write(to: &$0) }
        case .arrayRemove(let elements): writer.array("arrayRemove", of: elements) { $1.write(to: &$0) }
        }
        writer.endObject()
    }
}

extension Precondition {
    /// Writes the `precondition` member, if there is one.
    fileprivate func write(to writer: inout JSONWriter) {
        guard self != .none else { return }
        writer.key("precondition")
        writer.beginObject()
        switch self {
        case .none: break
        case .exists(let exists):
            writer.key("exists")
            writer.boolean(exists)
        case .updateTime(let time):
            writer.key("updateTime")
            writer.string(time.rfc3339)
        }
        writer.endObject()
    }
}

extension JSONWriter {
    /// Writes `fields`, the values by field path, and `delete`, the paths of the mask without a value.
    fileprivate mutating func writeUpdates(from fields: MapValue, mask: [FieldPath]) {
        // Removes duplicates, which a mask can contain but an object can't.
        let mask = Set(mask).sorted()
        key("fields")
        beginObject()
        for path in mask {
            guard let value = fields[path] else { continue }
            key(UTF8Key(path.description))
            value.write(to: &self)
        }
        endObject()
        array("delete", of: mask.filter { fields[$0] == nil }) { $0.string($1.description) }
    }
}
