import DocumentModel
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

/// A geo point: `{"$geoPoint": {latitude, longitude}}`.
struct GeoPointParameter: ParameterValue {
    let point: GeoPoint

    static var schema: JSONSchema { Value.schema }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard case .geoPoint(let point) = try Value(json: json, at: location) else {
            throw location.invalid("expected a geo point, {\"$geoPoint\": {\"latitude\": …, \"longitude\": …}}", got: json)
        }
        self.point = point
    }
}

/// An integer or double, including the doubles that only `{"$double": …}` can represent.
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

/// The operand of `near`: a circle.
struct GeoCircleParameter: ObjectParameter {
    let circle: GeoCircle

    static let schemaName = "Circle"
    static let center = Parameter<GeoPointParameter>(CircleKeys.center, "The center of the circle.")
    static let radius = Parameter<NumberParameter>(CircleKeys.radius, "The maximum great-circle distance, in meters.")
    static let members: [any ParameterDescription] = [center, radius]

    init(from members: Arguments) throws(RPCError) {
        let center = try members[Self.center].point
        let radius = try members[Self.radius].number
        circle = try members.location(of: Self.radius).locatingErrors { () throws(StatusError) in
            try GeoCircle(center: center, radius: radius)
        }
    }
}

/// The operand of `within`: a box between two parallels and two meridians.
struct GeoBoxParameter: ObjectParameter {
    let box: GeoBox

    static let schemaName = "Box"
    static let southWest = Parameter<GeoPointParameter>(BoxKeys.southWest, "The southwest corner.")
    static let northEast = Parameter<GeoPointParameter>(
        BoxKeys.northEast,
        "The northeast corner. If its longitude is less than that of southWest, the box crosses the antimeridian."
    )
    static let members: [any ParameterDescription] = [southWest, northEast]

    init(from members: Arguments) throws(RPCError) {
        let southWest = try members[Self.southWest].point
        let northEast = try members[Self.northEast].point
        box = try members.location.locatingErrors { () throws(StatusError) in
            try GeoBox(southWest: southWest, northEast: northEast)
        }
    }
}
