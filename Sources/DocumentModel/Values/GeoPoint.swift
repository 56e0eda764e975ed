/// A place on Earth: degrees of latitude and longitude.
///
/// Two points are `==` when they are stored alike, so -0.0 and 0.0 differ; ``Value/compared(to:)`` takes them as equal.
public struct GeoPoint: Sendable {
    /// Degrees north of the equator, -90 to 90.
    public let latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public let longitude: Double

    /// Makes a point of coordinates that may be wrong.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when a coordinate is out of its range or no number.
    public init(validatingLatitude latitude: Double, longitude: Double) throws(StatusError) {
        // Neither range contains NaN.
        guard (-90...90).contains(latitude) else {
            throw StatusError(.invalidArgument, "Expected a latitude from -90 to 90 degrees, found \(latitude).")
        }
        guard (-180...180).contains(longitude) else {
            throw StatusError(.invalidArgument, "Expected a longitude from -180 to 180 degrees, found \(longitude).")
        }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Latitude first, then longitude.
    func compared(to other: GeoPoint) -> Comparison {
        let latitudes = Comparison(latitude, other.latitude)
        return latitudes == .equal ? Comparison(longitude, other.longitude) : latitudes
    }
}

extension GeoPoint: Hashable {
    /// Whether both are stored alike, bit by bit.
    public static func == (left: GeoPoint, right: GeoPoint) -> Bool {
        left.latitude.bitPattern == right.latitude.bitPattern && left.longitude.bitPattern == right.longitude.bitPattern
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(latitude.bitPattern)
        hasher.combine(longitude.bitPattern)
    }
}
