import DocumentModel
import HearthWire
import JSONRPC
import UTF8Text

/// A write of a commit: `{set: …}`, `{update: …}`, `{delete: …}` or `{verify: …}`.
struct WriteParameter: ObjectParameter {
    let write: Write

    static let schemaName = "Write"
    static let set = Parameter<SetWrite?>(WriteKindKeys.set, "Replaces a document, or merges fields into it.")
    static let update = Parameter<UpdateWrite?>(WriteKindKeys.update, "Changes fields of an existing document.")
    static let delete = Parameter<DeleteWrite?>(WriteKindKeys.delete, "Deletes a document.")
    static let verify = Parameter<VerifyWrite?>(
        WriteKindKeys.verify,
        "Changes nothing: fails the commit if the precondition is not met."
    )
    static let members: [any ParameterDescription] = [set, update, delete, verify]

    init(from members: Arguments) throws(RPCError) {
        let writes = [
            try members[Self.set]?.write,
            try members[Self.update]?.write,
            try members[Self.delete]?.write,
            try members[Self.verify]?.write,
        ].compactMap(\.self)
        guard writes.count == 1, let write = writes.first else {
            throw .invalidParams(
                at: "\(members.location(of: Self.set))",
                reason: "expected exactly one of set, update, delete and verify"
            )
        }
        self.write = write
    }
}

/// The parameters of `{verify: …}` in a commit.
struct VerifyWrite: ObjectParameter {
    let write: Write

    static let schemaName = "VerifyWrite"
    static let path = Parameter<DocumentPath>(WriteKeys.path, "The document to verify.")
    static let precondition = Parameter<PreconditionParameter?>(
        WriteKeys.precondition,
        "The condition that the document must meet. Default: none."
    )
    static let members: [any ParameterDescription] = [path, precondition]

    init(from members: Arguments) throws(RPCError) {
        let path = try members[Self.path]
        let precondition = try path.attachingToErrors { () throws(RPCError) in try members[Self.precondition] }
        write = Write(path: path, operation: .verify, precondition: precondition?.precondition ?? .none)
    }
}
