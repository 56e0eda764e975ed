import DocumentModel
import HearthWire
import JSONRPC
import UTF8Text

/// A write of a commit: `{set: …}`, `{update: …}` or `{delete: …}`.
struct WriteParameter: ObjectParameter {
    let write: Write

    static let schemaName = "Write"
    static let set = Parameter<SetWrite?>(WriteKindKeys.set, "Replaces a document, or merges fields into it.")
    static let update = Parameter<UpdateWrite?>(WriteKindKeys.update, "Changes fields of an existing document.")
    static let delete = Parameter<DeleteWrite?>(WriteKindKeys.delete, "Deletes a document.")
    static let members: [any ParameterDescription] = [set, update, delete]

    init(from members: Arguments) throws(RPCError) {
        let writes = [
            try members[Self.set]?.write,
            try members[Self.update]?.write,
            try members[Self.delete]?.write,
        ].compactMap(\.self)
        guard writes.count == 1, let write = writes.first else {
            throw .invalidParams(
                at: "\(members.location(of: Self.set))",
                reason: "expected exactly one of set, update and delete"
            )
        }
        self.write = write
    }
}
