import DocumentModel
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

/// The precondition of a write: `{exists: bool}` or `{updateTime: …}`.
struct PreconditionParameter: ObjectParameter {
    let precondition: Precondition

    static let schemaName = "Precondition"
    static let exists = Parameter<Bool?>(PreconditionKeys.exists, "Whether the document must exist.")
    static let updateTime = Parameter<UpdateTime?>(PreconditionKeys.updateTime, "The required update time of the document.")
    static let members: [any ParameterDescription] = [exists, updateTime]

    init(from members: Arguments) throws(RPCError) {
        switch (try members[Self.exists], try members[Self.updateTime]) {
        case (let exists?, nil): precondition = .exists(exists)
        case (nil, let updateTime?): precondition = .updateTime(updateTime.time)
        case (nil, nil), (.some, .some):
            throw .invalidParams(
                at: "\(members.location(of: Self.exists))",
                reason: "expected exactly one of exists and updateTime"
            )
        }
    }
}

/// The update time of a document, in the exact form in which it was read.
struct UpdateTime: ParameterValue {
    let time: Timestamp

    static var schema: JSONSchema { Timestamp.schema }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        // No document has an update time with submicrosecond precision; truncated, it could match the wrong one.
        time = try location.parseString(json) { text throws(StatusError) in try Timestamp(exactRFC3339: text) }
    }
}
