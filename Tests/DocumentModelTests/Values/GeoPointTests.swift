import DocumentModel
import Testing

@Suite("Geo points")
struct GeoPointTests {
    @Test(
        arguments: [
            (53.553986, 9.9856482), (90, 180), (-90, -180), (0, 0), (-0.0, -0.0),
        ]
    )
    func `Coordinates up to the limits of their ranges are valid`(latitude: Double, longitude: Double) throws {
        let point = try GeoPoint(validatingLatitude: latitude, longitude: longitude)
        #expect(point.latitude.bitPattern == latitude.bitPattern)
        #expect(point.longitude.bitPattern == longitude.bitPattern)
    }

    @Test(
        arguments: [
            (90.0.nextUp, 0, "latitude"), ((-90.0).nextDown, 0, "latitude"), (.nan, 0, "latitude"), (.infinity, 0, "latitude"),
            (0, 180.0.nextUp, "longitude"), (0, (-180.0).nextDown, "longitude"), (0, .nan, "longitude"),
            (0, -.infinity, "longitude"),
        ]
    )
    func `Coordinates out of range and NaN are rejected`(latitude: Double, longitude: Double, name: String) throws {
        let error = try #require(throws: StatusError.self) { try GeoPoint(validatingLatitude: latitude, longitude: longitude) }
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains(name))
    }
}
