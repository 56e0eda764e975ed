import DocumentModel
import TestSupport
import Testing

@Suite("Geographic queries")
struct GeoTests {
    private static let degree = GeoPoint.earthRadius * Double.pi / 180

    @Test(
        arguments: [
            ((0.0, 0.0), (0.0, 0.0), 0.0), ((0, 0), (0, 1), degree), ((0, 0), (1, 0), degree), ((60, 10), (61, 10), degree),
            ((0, 0), (0, 180), 180 * degree), ((0, 0), (0, -180), 180 * degree), ((90, 0), (-90, 77), 180 * degree),
            ((30, 10), (-30, -170), 180 * degree), ((30, 10), (-30 + 1e-9, -170), 180 * degree - 1e-9 * degree),
            ((0, 179.5), (0, -179.5), degree), ((12, 180), (12, -180), 0), ((90, 12), (90, -120), 0), ((-90, 12), (-90, 0), 0),
            ((89, 0), (89, 180), 2 * degree), ((0, 0), (90, 45), 90 * degree), ((10, 20), (10 + 1e-9, 20), 1e-9 * degree),
            // Hamburg and New York, by the spherical law of cosines.
            ((53.553986, 9.9856482), (40.7414688, -74.0033873), 6_126_939.080877731),
        ] as [((Double, Double), (Double, Double), Double)]
    )
    func `Distances are great-circle distances`(from: (Double, Double), to: (Double, Double), expected: Double) throws {
        let (first, second) = (try QueryFixtures.point(from.0, from.1), try QueryFixtures.point(to.0, to.1))
        // Equivalent coordinates have no distance.
        #expect(abs(first.distance(to: second) - expected) <= (expected == 0 ? 0 : 1e-6))
        #expect(first.distance(to: second) == second.distance(to: first))
    }

    @Test(arguments: 0..<40)
    func `Points in a circle are in its bounding box`(round: Int) throws {
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed &+ UInt64(round))
        for _ in 0..<500 {
            let sizes: [Double] = [0.01, 1, 100, 1e4, 1e6, 1e7]
            let size = sizes.randomElement(using: &generator) ?? 1
            let radius = size * Double.random(in: 1...3, using: &generator)
            let circle = try GeoCircle(center: point(near: nil, 0, &generator), radius: radius)
            let box = circle.boundingBox
            for _ in 0..<20 {
                let point = try point(near: circle.center, radius, &generator)
                guard circle.contains(point), !box.contains(point) else { continue }
                Issue.record("\(point) is in \(circle), but not in \(box); HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
                return
            }
        }
    }

    @Test(
        arguments: [
            ((0.0, 0.0), 1.0, (-1.0, -1.0, 1.0, 1.0)),
            ((0, 179.5), 1, (-1, 178.5, 1, -179.5)),
            ((0, -180), 1, (-1, 179, 1, -179)),
            ((89.5, 20), 1, (88.5, -180, 90, 180)),
            ((-89, 20), 2, (-90, -180, -87, 180)),
            ((60, 0), 1, (59, -2.0003046, 61, 2.0003046)),
            ((0, 0), 200, (-90, -180, 90, 180)),
        ] as [((Double, Double), Double, (Double, Double, Double, Double))]
    )
    func `Bounding boxes are minimal`(
        center: (Double, Double),
        degrees: Double,
        expected: (Double, Double, Double, Double)
    ) throws {
        let circle = try GeoCircle(center: QueryFixtures.point(center.0, center.1), radius: degrees * Self.degree)
        let box = circle.boundingBox
        for (found, expected) in [
            (box.south, expected.0), (box.west, expected.1), (box.north, expected.2), (box.east, expected.3),
        ] {
            #expect(abs(found - expected) < 1e-6, "\(box)")
        }
    }

    struct BoxCase: Sendable, CustomTestStringConvertible {
        let corners: [Double]
        let inside: [[Double]]
        let outside: [[Double]]
        var testDescription: String { "\(corners)" }
    }

    @Test(
        arguments: [
            BoxCase(
                corners: [-10, -20, 10, 20],
                inside: [[0, 0], [-10, -20], [10, 20]],
                outside: [[0, 20.1], [10.1, 0], [0, 180]]
            ),
            BoxCase(
                corners: [-10, 170, 10, -170],
                inside: [[0, 175], [0, -175], [0, 180], [0, -180], [0, 170], [0, -170]],
                outside: [[0, 0], [0, 169.9], [0, -169.9], [11, 180]]
            ),
            BoxCase(corners: [-10, 170, 10, 180], inside: [[0, 180], [0, -180]], outside: [[0, -179.9], [11, -180]]),
            BoxCase(corners: [-10, -180, 10, -170], inside: [[0, 180], [0, -180], [-10, 180]], outside: [[0, 179.9]]),
            BoxCase(corners: [80, 10, 90, 20], inside: [[90, -120], [90, 15], [85, 15]], outside: [[89.9, -120]]),
            BoxCase(corners: [-90, 170, 0, -170], inside: [[-90, 0], [-45, 180]], outside: [[-89.9, 0], [0.1, 180]]),
            BoxCase(corners: [-90, -180, 90, 180], inside: [[0, 0], [90, 180], [-90, -180], [0, -180]], outside: []),
            BoxCase(corners: [0, 180, 0, -180], inside: [[0, 180], [0, -180]], outside: [[0, 179], [0, 0]]),
            BoxCase(corners: [5, 5, 5, 5], inside: [[5, 5]], outside: [[5, 5.1], [4.9, 5]]),
        ]
    )
    func `A box contains all equivalent coordinates of a point`(_ test: BoxCase) throws {
        let box = try GeoBox(
            southWest: QueryFixtures.point(test.corners[0], test.corners[1]),
            northEast: QueryFixtures.point(test.corners[2], test.corners[3])
        )
        for point in test.inside { #expect(box.contains(try QueryFixtures.point(point[0], point[1])), "\(point)") }
        for point in test.outside { #expect(!box.contains(try QueryFixtures.point(point[0], point[1])), "\(point)") }
    }

    @Test
    func `Invalid boxes and radii are rejected`() throws {
        let (south, north) = (try QueryFixtures.point(-1, 0), try QueryFixtures.point(1, 0))
        #expect(throws: StatusError.self) { try GeoBox(southWest: north, northEast: south) }
        for radius in [-1, .nan, .infinity] {
            #expect(throws: StatusError.self) { try GeoCircle(center: south, radius: radius) }
        }
    }

    @Test
    func `Documents are filtered and sorted by distance, and excluded without a geo point`() throws {
        let field = try FieldPath("p")
        let center = try QueryFixtures.point(0, 179.9)
        let documents = [
            ("a", "0", "-179.9"), ("b", "0", "179"), ("c", "5", "179.9"), ("d", "0", "179.9"), ("e", "0", "0"),
        ].map { (id: $0.0, fields: #"{"p": {"$geoPoint": {"latitude": \#($0.1), "longitude": \#($0.2)}}}"#) }
        let others = [(id: "x", fields: "{}"), (id: "y", fields: #"{"p": [1]}"#), (id: "z", fields: #"{"p": null}"#)]
        var query = try QueryFixtures.query(where: .field(field, .near(GeoCircle(center: center, radius: 150_000))))
        #expect(try NormalizedQuery(query).ids(among: documents + others) == ["a", "b", "d"])
        query.orders = [StructuredQuery.Order(.distance(of: field, from: center))]
        #expect(try NormalizedQuery(query).ids(among: documents + others) == ["d", "a", "b"])
        query.filter = nil
        query.orders[0].direction = .descending
        #expect(try NormalizedQuery(query).ids(among: documents + others) == ["e", "c", "b", "a", "d"])
        query.start = StructuredQuery.Cursor([.integer(100_080)], isInclusive: true)
        #expect(try NormalizedQuery(query).ids(among: documents + others) == ["b", "a", "d"])
        let box = try GeoBox(southWest: QueryFixtures.point(0, 179.5), northEast: QueryFixtures.point(9, -100))
        query = try QueryFixtures.query(where: .field(field, .within(box)))
        #expect(try NormalizedQuery(query).ids(among: documents + others) == ["a", "c", "d"])
    }

    /// Returns a random point, often at a pole or the antimeridian, or at about `radius` meters from `center`.
    private func point(near center: GeoPoint?, _ radius: Double, _ generator: inout SeededGenerator) throws -> GeoPoint {
        guard let center else {
            let latitudes: [Double] = [-90, -89.9999, 0, 45, 89.9999, 90]
            let longitudes: [Double] = [-180, -179.9999, 0, 179.9999, 180]
            return try GeoPoint(
                validatingLatitude: generator.chance(50)
                    ? latitudes.randomElement(using: &generator) ?? 0 : .random(in: -90...90, using: &generator),
                longitude: generator.chance(40)
                    ? longitudes.randomElement(using: &generator) ?? 0
                    : .random(in: -180...180, using: &generator)
            )
        }
        let reach = min(radius / Self.degree * 1.02, 180)
        let turn = abs(center.latitude) + reach > 89 ? 180 : min(180, reach * 60)
        let latitude = center.latitude + .random(in: -reach...reach, using: &generator)
        let longitude = center.longitude + .random(in: -turn...turn, using: &generator)
        return try GeoPoint(
            validatingLatitude: min(90, max(-90, latitude)),
            longitude: longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
        )
    }
}
