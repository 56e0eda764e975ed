package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The kinds of writes in a commit, by name: `{"set": {…}}`, `{"update": {…}}`, `{"delete": {…}}` or `{"verify": {…}}`.
package enum WriteKindKeys {
    package static let set: UTF8Key = "set"
    package static let update: UTF8Key = "update"
    package static let delete: UTF8Key = "delete"
    package static let verify: UTF8Key = "verify"
}

/// The members of a write.
package enum WriteKeys {
    package static let path: UTF8Key = "path"
    package static let fields: UTF8Key = "fields"
    package static let merge: UTF8Key = "merge"
    package static let mergeFields: UTF8Key = "mergeFields"
    package static let delete: UTF8Key = "delete"
    package static let transforms: UTF8Key = "transforms"
    package static let precondition: UTF8Key = "precondition"
}

/// The parameters of `documents.restore`.
package enum RestoreParameterKeys {
    package static let path: UTF8Key = "path"
    package static let commitTime: UTF8Key = "commitTime"
    package static let precondition = WriteKeys.precondition
}

extension Write {
    /// Writes an element of the `writes` parameter of a commit.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch kind {
        case .set: writer.key(WriteKindKeys.set)
        case .update: writer.key(WriteKindKeys.update)
        case .delete: writer.key(WriteKindKeys.delete)
        case .verify: writer.key(WriteKindKeys.verify)
        }
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
        writer.endObject()
    }

    private func writeMembers(to writer: inout JSONWriter) {
        writer.member(WriteKeys.path, path.string)
        switch operation {
        case .replace(let fields):
            writer.key(WriteKeys.fields)
            fields.write(to: &writer)
        case .patch(let fields, let mask) where kind == .set:
            writer.key(WriteKeys.fields)
            fields.write(to: &writer)
            writer.array(WriteKeys.mergeFields, of: mask) { $1.string($0.description) }
            let deleted = mask.filter { fields[$0] == nil }
            if !deleted.isEmpty { writer.array(WriteKeys.delete, of: deleted) { $1.string($0.description) } }
        case .patch(let fields, let mask):
            writer.writeUpdates(from: fields, mask: mask)
        case .delete, .verify: break
        }
        if !transforms.isEmpty { writer.array(WriteKeys.transforms, of: transforms) { $0.write(to: &$1) } }
        if precondition != .none {
            writer.key(WriteKeys.precondition)
            precondition.write(to: &writer)
        }
    }

    private enum Kind { case set, update, delete, verify }

    /// The kind of the write: a patch with a precondition is an update, without one a merging set.
    private var kind: Kind {
        switch operation {
        case .replace: .set
        case .patch: precondition == .none ? .set : .update
        case .delete: .delete
        case .verify: .verify
        }
    }
}

extension JSONWriter {
    /// Writes `fields`, the values by field path, and `delete`, the paths of the mask without a value.
    fileprivate mutating func writeUpdates(from fields: MapValue, mask: [FieldPath]) {
        // Removes duplicates, which a mask can contain but an object cannot.
        let mask = Set(mask).sorted()
        key(WriteKeys.fields)
        beginObject()
        for path in mask {
            guard let value = fields[path] else { continue }
            key(UTF8Key(path.description))
            value.write(to: &self)
        }
        endObject()
        array(WriteKeys.delete, of: mask.filter { fields[$0] == nil }) { $1.string($0.description) }
    }
}
