import DocumentModel
import UTF8Text

/// The documents of a public guide on mapping Firestore data, including its two invalid ones.
enum GuideData {
    static func writes() throws(StatusError) -> [Write] {
        var writes: [Write] = []
        for (path, fields) in try documents() { writes.append(.create(try DocumentPath(path), fields)) }
        return writes
    }

    private static let guide: MapValue = [
        "title": .string("The Hitchhiker's Guide to the Galaxy"), "numberOfPages": .integer(816),
        "author": .string("Douglas Adams"),
    ]

    private static func documents() throws(StatusError) -> [(String, MapValue)] {
        [
            (
                "books/hitchhiker",
                [
                    "title": .string("The Ultimate Hitchhiker's Guide to the Galaxy"), "numberOfPages": .integer(816),
                    "author": .string("Douglas Adams"), "field-doesnt-exist-in-struct": .string("hello"),
                ]
            ),
            (
                "books/invalid-data",
                [
                    "title": .string("SwiftUI and Combine"), "numberOfPages": .string("twohundredfifty"),
                    "author": .string("Peter"),
                ]
            ),
            (
                "books/hitchhiker-image-urls",
                guide.adding([
                    "color": .string("#fd1c48"),
                    "cover": .map([
                        "small": .string("https://covers.openlibrary.org/b/id/10555691-S.jpg"),
                        "medium": .string("https://covers.openlibrary.org/b/id/10555691-M.jpg"),
                        "large": .string("https://covers.openlibrary.org/b/id/10555691-L.jpg"),
                    ]),
                ])
            ),
            ("books/hitchhiker-genre", guide.adding(["genres": .array([.string("Sci-Fi"), .string("Comedy")])])),
            (
                "books/hitchhiker-tags",
                guide.adding([
                    "tags": .array([
                        .map(["title": .string("fun"), "color": .string("#ec4be9")]),
                        .map(["title": .string("series"), "color": .string("#b0f566")]),
                    ])
                ])
            ),
            ("colors/dZI8vLbiPai2nph7UAxv", ["name": .string("Carmine Pink"), "color": .string("#f05138")]),
            ("colors/mjioszEQCPMh0Mxqa7bs", ["name": .string("Cerise"), "color": .string("#d52c67")]),
            ("locations/googleHAM", try office("Google Hamburg", 53.553986, 9.9856482)),
            ("locations/googleNYC", try office("Google New York", 40.7414688, -74.0033873)),
            ("locations/googleSFO", try office("Google San Francisco", 37.7898829, -122.3915139)),
            ("locations/googleUK", try office("Google UK", 51.5327652, -0.1272025)),
            ("locations/googleplex", try office("Googleplex", 37.4207294, -122.084954)),
            ("programming-languages/3yDHZpqFGBgXNRfdxVX6", try language("name", "Ada", "1843-01-01T16:58:32Z")),
            ("programming-languages/JijOBVSn706HzXjbpTVD", try language("language_name", "BASIC", "1978-03-19T16:37:00Z")),
            ("programming-languages/O38uE17aHTN3zZxjQ100", try language("language_name", "Swift", "2014-09-09T08:00:47Z")),
            ("programming-languages/gXPTy6P27y1VT2HJ0vDb", try language("language_name", "TypeScript", "2012-06-06T13:28:00Z")),
        ]
    }

    private static func office(_ name: String, _ latitude: Double, _ longitude: Double) throws(StatusError) -> MapValue {
        ["name": .string(name), "location": .geoPoint(try GeoPoint(validatingLatitude: latitude, longitude: longitude))]
    }

    private static func language(_ key: UTF8Key, _ name: String, _ year: String) throws(StatusError) -> MapValue {
        MapValue([(key: key, value: .string(name)), (key: "year", value: .timestamp(try Timestamp(rfc3339: year)))])
    }
}

extension MapValue {
    /// Returns the map with additional fields.
    func adding(_ others: MapValue) -> MapValue {
        var map = self
        for (key, value) in others { map[key] = value }
        return map
    }
}
