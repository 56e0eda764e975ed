/// All points between two parallels and two meridians, the edges included.
///
/// A box whose west is greater than its east goes across the antimeridian. Points are places, however they are written: one
/// at longitude 180 is in a box that begins at -180, and a pole has every longitude.
package struct GeoBox: Hashable, Sendable {
    /// Degrees of latitude.
    package let south: Double
    /// Degrees of longitude.
    package let west: Double
    /// Degrees of latitude, not less than ``south``.
    package let north: Double
    /// Degrees of longitude.
    package let east: Double
    /// Rectangles of coordinates in which the box's points lie, and no others.
    package let rectangles: [Rectangle]

    /// Makes a box of its corners.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when the south is north of the north.
    package init(southWest: GeoPoint, northEast: GeoPoint) throws(StatusError) {
        guard southWest.latitude <= northEast.latitude else {
            throw StatusError(
                .invalidArgument,
                "Expected a southWest that is no farther north than the northEast, found latitudes \(southWest.latitude) and "
                    + "\(northEast.latitude). Exchange them."
            )
        }
        self.init(
            south: southWest.latitude,
            west: southWest.longitude,
            north: northEast.latitude,
            east: northEast.longitude
        )
    }

    /// For coordinates that are in range and in order.
    init(south: Double, west: Double, north: Double, east: Double) {
        self.south = south
        self.west = west
        self.north = north
        self.east = east
        rectangles = Self.rectangles(latitudes: south...north, west: west, east: east)
    }

    /// Whether a point is in the box.
    package func contains(_ point: GeoPoint) -> Bool {
        rectangles.contains { $0.contains(point) }
    }
}

extension GeoBox {
    /// Ranges of coordinates as they are written, without regard for places that have several.
    package struct Rectangle: Hashable, Sendable {
        /// Degrees of latitude.
        package let latitudes: ClosedRange<Double>
        /// Degrees of longitude.
        package let longitudes: ClosedRange<Double>

        /// Whether the point's coordinates are in the ranges.
        package func contains(_ point: GeoPoint) -> Bool {
            latitudes.contains(point.latitude) && longitudes.contains(point.longitude)
        }
    }

    private static func rectangles(latitudes: ClosedRange<Double>, west: Double, east: Double) -> [Rectangle] {
        var rectangles =
            (west <= east ? [west...east] : [west...180, -180...east])
            .map { Rectangle(latitudes: latitudes, longitudes: $0) }
        // The other ways to write places on the box's edges.
        for (edge, other) in [(180.0, -180.0), (-180.0, 180.0)] {
            let holds = { (longitude: Double) in rectangles.contains { $0.longitudes.contains(longitude) } }
            if holds(edge), !holds(other) {
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
