import DocumentModel
import JSONRPC
import StrictJSON

/// One criterion of sorting: `{field, direction?}`, or `{field, distanceFrom, direction?}`.
struct OrderParameter: ObjectParameter {
    let order: Query.Order

    static let schemaName = "Order"
    static let field = Parameter<FieldPath>("field", "The field to sort by, or `__name__` for the document's own path.")
    static let direction = Parameter<Direction?>("direction", "asc, which it is when absent, or desc.")
    static let distanceFrom = Parameter<PointParameter?>(
        "distanceFrom",
        "Sort by how far the field's point is from this one. Documents without a point there are not in the result."
    )
    static let members: [any ParameterDescription] = [field, direction, distanceFrom]

    init(from members: Arguments) throws(RPCError) {
        let field = try members[Self.field]
        let center = try members[Self.distanceFrom]?.point
        order = Query.Order(
            center.map { .distance(of: field, from: $0) } ?? .field(field),
            try members[Self.direction]?.direction ?? .ascending
        )
    }

    /// Which end comes first.
    struct Direction: ParameterValue {
        let direction: Query.Order.Direction

        private enum Name: String, CaseIterable {
            case ascending = "asc"
            case descending = "desc"
        }

        static var schema: JSONSchema { .string(values: Name.allCases.map(\.rawValue)) }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            direction =
                switch try location.choice(json, among: Name.allCases) {
                case .ascending: .ascending
                case .descending: .descending
                }
        }
    }
}
