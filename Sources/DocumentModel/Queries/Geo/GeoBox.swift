/// A geographic bounding box, including its edges.
///
/// A box whose west is greater than its east crosses the antimeridian. Equivalent coordinates are treated as the same point: a
/// point at longitude 180 is in a box that begins at -180, and a pole has every longitude.
package struct GeoBox: Hashable, Sendable {
    /// The southern latitude in degrees.
    package let south: Double
    /// The western longitude in degrees.
    package let west: Double
    /// The northern latitude in degrees, not less than ``south``.
    package let north: Double
    /// The eastern longitude in degrees.
    package let east: Double
    /// The coordinate rectangles that cover exactly the points of the box.
    package let rectangles: [Rectangle]

    /// Creates a box from its corners.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the southern latitude is greater than the northern one.
    package init(southWest: GeoPoint, northEast: GeoPoint) throws(StatusError) {
        guard southWest.latitude <= northEast.latitude else {
            throw StatusError(
                .invalidArgument,
                "The latitude of southWest, \(southWest.latitude), is greater than that of northEast, "
                    + "\(northEast.latitude). Swap them."
            )
        }
        self.init(
            south: southWest.latitude,
            west: southWest.longitude,
            north: northEast.latitude,
            east: northEast.longitude
        )
    }

    /// Creates a box from validated coordinates.
    init(south: Double, west: Double, north: Double, east: Double) {
        self.south = south
        self.west = west
        self.north = north
        self.east = east
        rectangles = Self.rectangles(latitudes: south...north, west: west, east: east)
    }

    /// The southwest corner.
    package var southWest: GeoPoint { GeoPoint(validatedLatitude: south, longitude: west) }

    /// The northeast corner.
    package var northEast: GeoPoint { GeoPoint(validatedLatitude: north, longitude: east) }

    /// Returns whether a point is in the box.
    package func contains(_ point: GeoPoint) -> Bool {
        rectangles.contains { $0.contains(point) }
    }
}

extension GeoBox {
    /// A range of literal coordinates, in which equivalent coordinates are different.
    package struct Rectangle: Hashable, Sendable {
        /// The latitudes in degrees.
        package let latitudes: ClosedRange<Double>
        /// The longitudes in degrees.
        package let longitudes: ClosedRange<Double>

        /// Returns whether the point's coordinates are in the ranges.
        package func contains(_ point: GeoPoint) -> Bool {
            latitudes.contains(point.latitude) && longitudes.contains(point.longitude)
        }
    }

    private static func rectangles(latitudes: ClosedRange<Double>, west: Double, east: Double) -> [Rectangle] {
        var rectangles =
            (west <= east ? [west...east] : [west...180, -180...east])
            .map { Rectangle(latitudes: latitudes, longitudes: $0) }
        // The equivalent coordinates of points on the box's edges.
        for (edge, other) in [(180.0, -180.0), (-180.0, 180.0)] {
            let covers = { (longitude: Double) in rectangles.contains { $0.longitudes.contains(longitude) } }
            if covers(edge), !covers(other) {
                rectangles.append(Rectangle(latitudes: latitudes, longitudes: other...other))
            }
        }
        if !rectangles.contains(where: { $0.longitudes == -180...180 }) {
            for pole in [-90.0, 90.0] where latitudes.contains(pole) {
                rectangles.append(Rectangle(latitudes: pole...pole, longitudes: -180...180))
            }
        }
        return rectangles
    }
}
