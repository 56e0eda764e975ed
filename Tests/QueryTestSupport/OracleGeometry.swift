import DocumentModel
import Foundation

/// Geometry by formulas that differ from the model's.
enum OracleGeometry {
    /// Returns the great-circle distance on a sphere of 6,371,008.8 m, by the angle between two vectors.
    static func distance(_ left: GeoPoint, _ right: GeoPoint) -> Double {
        let (first, second) = (direction(left), direction(right))
        let difference = length(zip(first, second).map { $0 - $1 })
        let sum = length(zip(first, second).map { $0 + $1 })
        return 6_371_008.8 * 2 * atan2(difference, sum)
    }

    private static func direction(_ point: GeoPoint) -> [Double] {
        let latitude = point.latitude * .pi / 180
        let longitude = point.longitude * .pi / 180
        return [cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)]
    }

    private static func length(_ vector: [Double]) -> Double {
        vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
    }

    /// Returns whether a point is in a box that extends east from its western edge.
    static func isInside(_ point: GeoPoint, _ box: GeoBox) -> Bool {
        guard point.latitude >= box.south, point.latitude <= box.north else { return false }
        if abs(point.latitude) == 90 { return true }
        let width = box.east >= box.west ? box.east - box.west : box.east - box.west + 360
        let offset = (point.longitude - box.west + 720).truncatingRemainder(dividingBy: 360)
        return width == 360 || offset <= width
    }
}

extension VectorSearch {
    func oracleDistance(_ fields: MapValue) -> Double? {
        guard case .vector(let other)? = fields[field], other.count == vector.count else { return nil }
        let pairs = Array(zip(vector, other))
        let dot = pairs.reduce(0) { $0 + $1.0 * $1.1 }
        let distance: Double
        switch measure {
        case .dotProduct: distance = dot
        case .euclidean: distance = pairs.reduce(0) { $0 + pow($1.0 - $1.1, 2) }.squareRoot()
        case .cosine:
            let lengths = pairs.reduce((0, 0)) { ($0.0 + $1.0 * $1.0, $0.1 + $1.1 * $1.1) }
            distance = 1 - dot / (lengths.0.squareRoot() * lengths.1.squareRoot())
        }
        if distance.isNaN { return nil }
        if let threshold {
            guard measure == .dotProduct ? distance >= threshold : distance <= threshold else { return nil }
        }
        return distance
    }
}
