import DocumentModel
import JSONRPC
import StrictJSON

/// A point as a value: `{"$geoPoint": {latitude, longitude}}`.
struct PointParameter: ParameterValue {
    let point: GeoPoint

    static var schema: JSONSchema { Value.schema }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard case .geoPoint(let point) = try Value(json: json, at: location) else {
            throw location.invalid("expected a geo point, {\"$geoPoint\": {\"latitude\": …, \"longitude\": …}}", got: json)
        }
        self.point = point
    }
}

/// A number with or without a fraction, or one of those that only `{"$double": …}` can say.
struct NumberParameter: ParameterValue {
    let number: Double

    static var schema: JSONSchema { Value.schema }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        switch try Value(json: json, at: location) {
        case .integer(let integer): number = Double(integer)
        case .double(let double): number = double
        default: throw location.expected("a number", got: json)
        }
    }
}

/// The operand of `near`: all points within a distance.
struct CircleParameter: ObjectParameter {
    let circle: GeoCircle

    static let schemaName = "Circle"
    static let center = Parameter<PointParameter>("center", "The point in the middle.")
    static let radius = Parameter<NumberParameter>("radius", "How far away a point may be, in metres along the sphere.")
    static let members: [any ParameterDescription] = [center, radius]

    init(from members: Arguments) throws(RPCError) {
        let center = try members[Self.center].point
        let radius = try members[Self.radius].number
        circle = try members.location(of: Self.radius).model { () throws(StatusError) in
            try GeoCircle(center: center, radius: radius)
        }
    }
}

/// The operand of `within`: all points between two parallels and two meridians.
struct BoxParameter: ObjectParameter {
    let box: GeoBox

    static let schemaName = "Box"
    static let southWest = Parameter<PointParameter>("southWest", "One corner.")
    static let northEast = Parameter<PointParameter>(
        "northEast",
        "The opposite corner. Where its longitude is the lesser, the box goes across the antimeridian."
    )
    static let members: [any ParameterDescription] = [southWest, northEast]

    init(from members: Arguments) throws(RPCError) {
        let southWest = try members[Self.southWest].point
        let northEast = try members[Self.northEast].point
        box = try members.location.model { () throws(StatusError) in
            try GeoBox(southWest: southWest, northEast: northEast)
        }
    }
}
