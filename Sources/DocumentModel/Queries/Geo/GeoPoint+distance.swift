#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

extension GeoPoint {
    /// The radius for distances in meters: the Earth's mean radius, (2a + b) / 3 of the GRS 80 ellipsoid as adopted by the
    /// IUGG (H. Moritz, "Geodetic Reference System 1980", R₁ = 6,371,008.7714 m).
    public static let earthRadius = 6_371_008.8

    /// Returns the great-circle distance to another point in meters.
    ///
    /// The error is below a micrometer for all pairs of points on the sphere, including adjacent and antipodal ones. The
    /// distance is symmetric, and 0 between equivalent coordinates: -180 and 180 degrees, or any longitudes at a pole. The
    /// spherical model differs from the Earth's shape by up to 0.6%.
    public func distance(to other: GeoPoint) -> Double {
        let turn = abs(longitude - other.longitude)
        let halfLongitudeDifference = min(turn, 360 - turn) / 2
        let halfLatitudeDifference = (latitude - other.latitude) / 2
        let middle = (latitude + other.latitude) / 2
        // The haversines of the angle and of its supplement, as sums without cancellation, so that neither adjacent nor
        // antipodal points lose precision.
        let near =
            squared(sine(halfLatitudeDifference) * cosine(halfLongitudeDifference))
            + squared(cosine(middle) * sine(halfLongitudeDifference))
        let far =
            squared(cosine(halfLatitudeDifference) * cosine(halfLongitudeDifference))
            + squared(sine(middle) * sine(halfLongitudeDifference))
        return 2 * Self.earthRadius * atan2(near.squareRoot(), far.squareRoot())
    }
}

extension GeoCircle {
    /// The bounding box of the circle, accurate to a tenth of a millimeter.
    package var boundingBox: GeoBox {
        // Slightly more than the radius, to allow for rounding errors.
        let reach = radius / GeoPoint.earthRadius * 180 / .pi * (1 + 1e-12) + 1e-9
        let south = center.latitude - reach
        let north = center.latitude + reach
        guard south > -90, north < 90 else {
            // A circle that contains a pole crosses every meridian.
            return GeoBox(south: max(south, -90), west: -180, north: min(north, 90), east: 180)
        }
        // The circle touches its outermost meridians at sin(turn) = sin(reach) / cos(latitude).
        let turn = atan2(sine(reach), (cosine(south) * cosine(north)).squareRoot()) * 180 / .pi + 1e-9
        let west = center.longitude - turn
        let east = center.longitude + turn
        return GeoBox(
            south: south,
            west: west < -180 ? west + 360 : west,
            north: north,
            east: east > 180 ? east - 360 : east
        )
    }
}

// Angles in degrees.
private func sine(_ degrees: Double) -> Double {
    sin(degrees * .pi / 180)
}

private func cosine(_ degrees: Double) -> Double {
    // The cosine of a right angle is not 0 in radians, because π/2 is not a double.
    abs(degrees) == 90 ? 0 : cos(degrees * .pi / 180)
}

private func squared(_ number: Double) -> Double {
    number * number
}
