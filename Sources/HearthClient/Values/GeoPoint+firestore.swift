internal import DocumentModel

#if canImport(CoreLocation)
public import CoreLocation
#endif

extension GeoPoint {
    /// Makes a point. A coordinate that is no number or out of its range is a mistake in the program and ends it; for
    /// coordinates from elsewhere there is ``init(validatingLatitude:longitude:)``.
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

    /// Decodes a map of latitude and longitude, as other coders than Firestore's have it.
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

    /// Encodes a map of latitude and longitude, for other coders than Firestore's.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(latitude, forKey: .latitude)
        try container.encode(longitude, forKey: .longitude)
    }
}

#if canImport(CoreLocation)
extension GeoPoint {
    /// The point of a coordinate; nil for one that is invalid.
    public init?(_ coordinate: CLLocationCoordinate2D) {
        try? self.init(validatingLatitude: coordinate.latitude, longitude: coordinate.longitude)
    }

    /// The point as Core Location has it.
    public var coordinate: CLLocationCoordinate2D {
        CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
    }
}
#endif
