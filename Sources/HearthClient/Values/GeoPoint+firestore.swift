internal import DocumentModel

#if canImport(CoreLocation)
public import CoreLocation
#endif

extension GeoPoint {
    /// Creates a geo point. Use ``init(validatingLatitude:longitude:)`` for untrusted coordinates.
    ///
    /// - Precondition: The coordinates are numbers in the valid range.
    public init(latitude: Double, longitude: Double) {
        do throws(StatusError) {
            try self.init(validatingLatitude: latitude, longitude: longitude)
        } catch {
            preconditionFailure(error.message)
        }
    }
}

extension GeoPoint: Codable {
    private enum CodingKeys: String, CodingKey {
        case latitude
        case longitude
    }

    /// Decodes a map with `latitude` and `longitude`, the representation in coders other than Firestore's.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let latitude = try container.decode(Double.self, forKey: .latitude)
        let longitude = try container.decode(Double.self, forKey: .longitude)
        do throws(StatusError) {
            try self.init(validatingLatitude: latitude, longitude: longitude)
        } catch {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: error.message))
        }
    }

    /// Encodes a map with `latitude` and `longitude`, the representation in coders other than Firestore's.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
    }
}

#if canImport(CoreLocation)
extension GeoPoint {
    /// Creates a geo point from a Core Location coordinate; `nil` if the coordinate is invalid.
    public init?(_ coordinate: CLLocationCoordinate2D) {
        try? self.init(validatingLatitude: coordinate.latitude, longitude: coordinate.longitude)
    }

    /// The Core Location coordinate.
    public var coordinate: CLLocationCoordinate2D {
        CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
    }
}
#endif
