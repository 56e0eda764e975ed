import DocumentModel
import DocumentStore
import JSONRPC
import StrictJSON

/// One field of an index of several: `{field, direction?}`.
struct IndexFieldParameter: ObjectParameter {
    let field: IndexDefinition.Field

    static let schemaName = "IndexField"
    static let name = Parameter<FieldPath>("field", "The field.")
    static let direction = Parameter<OrderParameter.Direction?>("direction", "asc, which it is when absent, or desc.")
    static let members: [any ParameterDescription] = [name, direction]

    init(from members: Arguments) throws(RPCError) {
        field = IndexDefinition.Field(try members[Self.name], try members[Self.direction]?.direction ?? .ascending)
    }
}
