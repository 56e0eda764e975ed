import DocumentModel
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

/// A sort key: `{field, direction?}`, or `{field, distanceFrom, direction?}`.
struct OrderParameter: ObjectParameter {
    let order: StructuredQuery.Order

    static let schemaName = "Order"
    static let field = Parameter<FieldPath>(OrderKeys.field, "The field to sort by, or `__name__` for the document path.")
    static let direction = Parameter<Direction?>(OrderKeys.direction, "asc or desc. Default: asc.")
    static let distanceFrom = Parameter<GeoPointParameter?>(
        OrderKeys.distanceFrom,
        "Sorts by the distance of the field's geo point from this one. Documents without a geo point in the field are not in the result."
    )
    static let members: [any ParameterDescription] = [field, direction, distanceFrom]

    init(from members: Arguments) throws(RPCError) {
        let field = try members[Self.field]
        let center = try members[Self.distanceFrom]?.point
        order = StructuredQuery.Order(
            center.map { .distance(of: field, from: $0) } ?? .field(field),
            try members[Self.direction]?.direction ?? .ascending
        )
    }

    /// A sort direction, by name.
    struct Direction: ParameterValue {
        let direction: StructuredQuery.Order.Direction

        static var schema: JSONSchema { .string(values: OrderDirectionName.allCases.map(\.rawValue)) }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            direction = try location.parseName(json, among: OrderDirectionName.allCases).direction
        }
    }
}
