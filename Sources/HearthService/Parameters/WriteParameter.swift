import DocumentModel
import JSONRPC
import StrictJSON

/// One of the writes of a commit: `{set: …}`, `{update: …}` or `{delete: …}`.
struct WriteParameter: ObjectParameter {
    let write: Write

    static let schemaName = "Write"
    static let set = Parameter<SetWrite?>("set", "Replace a document, or merge into it.")
    static let update = Parameter<UpdateWrite?>("update", "Change fields of a document that exists.")
    static let delete = Parameter<DeleteWrite?>("delete", "Delete a document.")
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
                reason: "a write is exactly one of set, update and delete"
            )
        }
        self.write = write
    }
}
