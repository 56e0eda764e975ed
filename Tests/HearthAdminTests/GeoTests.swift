import DocumentModel
import Testing

@testable import HearthAdmin

@Suite("Places")
struct GeoTests {
    @Test(
        "Coordinates are written as stored, and in degrees",
        arguments: [
            (53.553986, 9.9856482, "53.553986, 9.9856482", "53°33′14.3″ N, 9°59′08.3″ E"),
            (-18.5, -179.99999999, "-18.5, -179.99999999", "18°30′00.0″ S, 180°00′00.0″ W"),
            (0, 0, "0, 0", "0°00′00.0″ N, 0°00′00.0″ E"),
            (90, -180, "90, -180", "90°00′00.0″ N, 180°00′00.0″ W"),
            (1e-12, 0.999999999, "1e-12, 0.999999999", "0°00′00.0″ N, 1°00′00.0″ E"),
        ]
    )
    func coordinates(latitude: Double, longitude: Double, decimal: String, degrees: String) throws {
        let point = try GeoPoint(validatingLatitude: latitude, longitude: longitude)
        #expect(Coordinates.decimal(point) == decimal)
        #expect(Coordinates.degrees(point) == degrees)
    }

    @Test("Where there is little room, coordinates end at a tenth of a metre")
    func rounded() throws {
        #expect(
            Coordinates.rounded(try GeoPoint(validatingLatitude: 5.316666666666666, longitude: -4.033333333333333))
                == "5.316667, -4.033333"
        )
        #expect(Coordinates.rounded(try GeoPoint(validatingLatitude: 12.65, longitude: -8.00000001)) == "12.65, -8")
    }

    @Test(
        "A map's frame holds all its points, away from its edge where there is room",
        arguments: [
            [(53.5, 10.0)], [(0, 0)], [(-90, 0)], [(90, 180)], [(-18.1, 178.4), (-13.8, -171.8)], [(53.5, 10), (37.4, -122.1)],
            [(10, -170), (10, 170), (12, 179)], [(89, -180), (-89, 180)], [(0, -120), (0, 0), (0, 120)],
        ]
    )
    func frame(places: [(Double, Double)]) throws {
        var points: [GeoPoint] = []
        for (latitude, longitude) in places { points.append(try GeoPoint(validatingLatitude: latitude, longitude: longitude)) }
        let frame = MapFrame(around: points)
        #expect(frame.north <= 90 && frame.north - frame.height >= -90)
        for point in points {
            let (x, y) = frame.position(of: point)
            #expect((frame.west...frame.west + frame.width).contains(x))
            #expect((-frame.north...frame.height - frame.north).contains(y))
        }
        #expect(frame.landOffsets.contains(0))
    }

    @Test("Neighbours across the 180th meridian are near on the map")
    func antimeridian() throws {
        let frame = MapFrame(around: [
            try GeoPoint(validatingLatitude: -18.14, longitude: 178.44),
            try GeoPoint(validatingLatitude: -13.83, longitude: -171.76),
        ])
        #expect(frame.width == 48)
        #expect(frame.landOffsets == [0, 360])
    }

    @Test("No points and points all round make the whole Earth", arguments: [[], [0.0, 60, 120, 180, -120, -60]])
    func world(longitudes: [Double]) throws {
        var points: [GeoPoint] = []
        for longitude in longitudes { points.append(try GeoPoint(validatingLatitude: 0, longitude: longitude)) }
        #expect(MapFrame(around: points) == .world)
    }

    @Test("Places that lie too near to be told apart are one dot that names them")
    func cluster() throws {
        let near = try (0..<7).map { index in
            MapView.Place(
                point: try GeoPoint(validatingLatitude: 50.01 + Double(index) / 1_000, longitude: 8.01),
                label: DisplayText("p\(index)"),
                url: "/p\(index)"
            )
        }
        let far = MapView.Place(
            point: try GeoPoint(validatingLatitude: -30, longitude: 100),
            label: DisplayText("far"),
            url: "/far"
        )
        let map = MapView(of: near + [far], in: .world)
        #expect(map.dots.map(\.count) == [7, 1])
        #expect(map.dots.map(\.url) == [nil, "/far"])
        #expect(map.dots[0].title.hasSuffix("and 2 more"))
        #expect(map.dots[1].title == "far: -30, 100")
    }
}
