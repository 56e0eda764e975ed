import DocumentModel
import JSONRPC
import StrictJSON

/// What must hold of a document for a write to be applied: `{exists: bool}` or `{updateTime: …}`.
struct PreconditionParameter: ObjectParameter {
    let precondition: Precondition

    static let schemaName = "Precondition"
    static let exists = Parameter<Bool?>("exists", "Whether the document must exist, or must not.")
    static let updateTime = Parameter<Timestamp?>("updateTime", "When the document must have been changed last.")
    static let members: [any ParameterDescription] = [exists, updateTime]

    init(from members: Arguments) throws(RPCError) {
        switch (try members[Self.exists], try members[Self.updateTime]) {
        case (let exists?, nil): precondition = .exists(exists)
        case (nil, let updateTime?): precondition = .updateTime(updateTime)
        case (nil, nil), (.some, .some):
            throw .invalidParams(
                at: "\(members.location(of: Self.exists))",
                reason: "a precondition is exactly one of exists and updateTime"
            )
        }
    }
}
