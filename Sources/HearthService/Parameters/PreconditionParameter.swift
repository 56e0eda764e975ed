import DocumentModel
import JSONRPC
import StrictJSON

/// What must hold of a document for a write to be applied: `{exists: bool}` or `{updateTime: …}`.
struct PreconditionParameter: ObjectParameter {
    let precondition: Precondition

    static let schemaName = "Precondition"
    static let exists = Parameter<Bool?>("exists", "Whether the document must exist, or must not.")
    static let updateTime = Parameter<UpdateTime?>("updateTime", "When the document must have been changed last.")
    static let members: [any ParameterDescription] = [exists, updateTime]

    init(from members: Arguments) throws(RPCError) {
        switch (try members[Self.exists], try members[Self.updateTime]) {
        case (let exists?, nil): precondition = .exists(exists)
        case (nil, let updateTime?): precondition = .updateTime(updateTime.time)
        case (nil, nil), (.some, .some):
            throw .invalidParams(
                at: "\(members.location(of: Self.exists))",
                reason: "a precondition is exactly one of exists and updateTime"
            )
        }
    }
}

/// The time with which a document was read.
struct UpdateTime: ParameterValue {
    let time: Timestamp

    static var schema: JSONSchema { Timestamp.schema }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        // A finer time is none that a document has; cut off, it might become one.
        time = try location.text(json) { text throws(StatusError) in try Timestamp(alignedRFC3339: text) }
    }
}
