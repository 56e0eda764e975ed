import DocumentModel
import Testing

@testable import HearthAdmin

@Suite("Maps")
struct MapTests {
    @Test(
        arguments: [
            (53.553986, 9.9856482, "53.553986, 9.9856482", "53°33′14.3″ N, 9°59′08.3″ E"),
            (-18.5, -179.99999999, "-18.5, -179.99999999", "18°30′00.0″ S, 180°00′00.0″ W"),
            (0, 0, "0, 0", "0°00′00.0″ N, 0°00′00.0″ E"),
            (90, -180, "90, -180", "90°00′00.0″ N, 180°00′00.0″ W"),
            (1e-12, 0.999999999, "1e-12, 0.999999999", "0°00′00.0″ N, 1°00′00.0″ E"),
        ]
    )
    func `Coordinates are formatted as stored, and in degrees, minutes and seconds`(
        latitude: Double,
        longitude: Double,
        decimal: String,
        degrees: String
    ) throws {
        let point = try GeoPoint(validatingLatitude: latitude, longitude: longitude)
        #expect(CoordinateFormat.decimal(point) == decimal)
        #expect(CoordinateFormat.degrees(point) == degrees)
    }

    @Test
    func `Short coordinates are rounded to a tenth of a meter`() throws {
        #expect(
            CoordinateFormat.rounded(try GeoPoint(validatingLatitude: 5.316666666666666, longitude: -4.033333333333333))
                == "5.316667, -4.033333"
        )
        #expect(CoordinateFormat.rounded(try GeoPoint(validatingLatitude: 12.65, longitude: -8.00000001)) == "12.65, -8")
    }

    @Test(
        arguments: [
            [(53.5, 10.0)], [(0, 0)], [(-90, 0)], [(90, 180)], [(-18.1, 178.4), (-13.8, -171.8)], [(53.5, 10), (37.4, -122.1)],
            [(10, -170), (10, 170), (12, 179)], [(89, -180), (-89, 180)], [(0, -120), (0, 0), (0, 120)],
        ]
    )
    func `A fitted viewport contains all points`(places: [(Double, Double)]) throws {
        var points: [GeoPoint] = []
        for (latitude, longitude) in places { points.append(try GeoPoint(validatingLatitude: latitude, longitude: longitude)) }
        let viewport = MapViewport(around: points)
        #expect(viewport.north <= 90 && viewport.north - viewport.height >= -90)
        for point in points {
            let (x, y) = viewport.position(of: point)
            #expect((viewport.west...viewport.west + viewport.width).contains(x))
            #expect((-viewport.north...viewport.height - viewport.north).contains(y))
        }
        #expect(viewport.landOffsets.contains(0))
    }

    @Test
    func `A viewport crosses the 180th meridian if that is shorter`() throws {
        let viewport = MapViewport(around: [
            try GeoPoint(validatingLatitude: -18.14, longitude: 178.44),
            try GeoPoint(validatingLatitude: -13.83, longitude: -171.76),
        ])
        #expect(viewport.width == 48)
        #expect(viewport.landOffsets == [0, 360])
    }

    @Test(arguments: [[], [0.0, 60, 120, 180, -120, -60]])
    func `No points, or points all around the Earth, show the world`(longitudes: [Double]) throws {
        var points: [GeoPoint] = []
        for longitude in longitudes { points.append(try GeoPoint(validatingLatitude: 0, longitude: longitude)) }
        #expect(MapViewport(around: points) == .world)
    }

    @Test
    func `Nearby points form a cluster with their names`() throws {
        let near = try (0..<7).map { index in
            MapView.Point(
                point: try GeoPoint(validatingLatitude: 50.01 + Double(index) / 1_000, longitude: 8.01),
                label: DisplayText("p\(index)"),
                url: "/p\(index)"
            )
        }
        let far = MapView.Point(
            point: try GeoPoint(validatingLatitude: -30, longitude: 100),
            label: DisplayText("far"),
            url: "/far"
        )
        let map = MapView(of: near + [far], in: .world)
        #expect(map.markers.map(\.clusterCount) == ["7", "1"])
        #expect(map.markers.map(\.url) == [nil, "/far"])
        #expect(map.markers[0].title.hasSuffix("and 2 more"))
        #expect(map.markers[1].title == "far: -30, 100")
    }

    private static func point(_ name: String, _ latitude: Double, _ longitude: Double) throws -> MapView.Point {
        let point = try GeoPoint(validatingLatitude: latitude, longitude: longitude)
        return MapView.Point(point: point, label: DisplayText(name), url: nil)
    }

    @Test
    func `Up to twenty points have their names beside them, where nothing is covered`() throws {
        let points = [
            try Self.point("west", 10, -100), try Self.point("edge", 40, 178), try Self.point("a rather long name", -40, 0),
            try Self.point("covered", -41, 20), try Self.point("one", 70, 50), try Self.point("two", 70.1, 50.1),
        ]
        let labels = MapView(of: points, in: .world).markers.map(\.label)
        #expect(labels.map { $0?.text } == ["west", "edge", "a rather long name", "covered", nil])
        #expect(labels.map { $0?.isBefore } == [false, true, true, false, nil])
        #expect(labels[0].flatMap { Double($0.x) } ?? 0 > -100)
        // Between the markers, 12 letters have room, but not 12 characters that are as wide as the font size.
        for (character, hasRoom) in [("n", true), ("本", false), ("🔥", false)] {
            let name = String(repeating: character, count: 12)
            let points = [try Self.point(name, 0, 160), try Self.point("x", 0, 105)]
            #expect((MapView(of: points, in: .world).markers[0].label != nil) == hasRoom)
        }
        let many = try (0..<21).map { try Self.point("p\($0)", 0, Double($0) * 17 - 170) }
        #expect(MapView(of: many, in: .world).markers.allSatisfy { $0.label == nil })
        #expect(MapView(of: Array(many.dropLast()), in: .world).markers.allSatisfy { $0.label != nil })
    }
}
