/// A geographic point: latitude and longitude in degrees.
///
/// `==` is bitwise, so -0.0 and 0.0 differ; ``Value/compared(to:)`` treats them as equal.
public struct GeoPoint: Sendable {
    /// Degrees north of the equator, -90 to 90.
    public let latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public let longitude: Double

    /// Creates a point after validating its coordinates.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if a coordinate is out of range or NaN.
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

    /// Creates a point from validated coordinates.
    init(validatedLatitude latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Compares by latitude, then by longitude.
    func compared(to other: GeoPoint) -> Comparison {
        let latitudes = Comparison(latitude, other.latitude)
        return latitudes == .equal ? Comparison(longitude, other.longitude) : latitudes
    }
}

extension GeoPoint: Hashable {
    /// Returns whether both are bitwise equal.
    public static func == (left: GeoPoint, right: GeoPoint) -> Bool {
        left.latitude.bitPattern == right.latitude.bitPattern && left.longitude.bitPattern == right.longitude.bitPattern
    }

    /// Hashes the bits that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(latitude.bitPattern)
        hasher.combine(longitude.bitPattern)
    }
}
