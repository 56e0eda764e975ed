import DocumentModel
import HearthAPI
import StrictJSON

/// The sample data of the guide to mapping Firestore data with Swift Codable.
///
/// Two documents have intentional errors: `numberOfPages` of `books/invalid-data` is a string, and one programming language has
/// `name` instead of `language_name`.
enum GuideExample {
    static func documents() throws(StatusError) -> [ExampleDocument] {
        var documents: [ExampleDocument] = []
        for (path, fields) in try books() + colors + offices() + languages() {
            let origin = BulkWriter.Origin(file: "guide", line: documents.count + 1)
            documents.append(ExampleDocument(path: try DocumentPath(path), fields: fields, origin: origin))
        }
        return documents
    }

    private static func books() throws(StatusError) -> [(String, MapValue)] {
        let cover = "https://covers.openlibrary.org/b/id/10555691"
        return [
            (
                "books/hitchhiker",
                [
                    "title": .string("The Ultimate Hitchhiker's Guide to the Galaxy"),
                    "numberOfPages": .integer(816),
                    "author": .string("Douglas Adams"),
                    "field-doesnt-exist-in-struct": .string("hello"),
                ]
            ),
            (
                "books/invalid-data",
                [
                    "title": .string("SwiftUI and Combine"),
                    "numberOfPages": .string("twohundredfifty"),
                    "author": .string("Peter"),
                ]
            ),
            (
                "books/hitchhiker-image-urls",
                hitchhiker([
                    "color": .string("#fd1c48"),
                    "cover": .map([
                        "small": .string("\(cover)-S.jpg"),
                        "medium": .string("\(cover)-M.jpg"),
                        "large": .string("\(cover)-L.jpg"),
                    ]),
                ])
            ),
            ("books/hitchhiker-genre", hitchhiker(["genres": .array([.string("Sci-Fi"), .string("Comedy")])])),
            (
                "books/hitchhiker-tags",
                hitchhiker([
                    "tags": .array([
                        .map(["title": .string("fun"), "color": .string("#ec4be9")]),
                        .map(["title": .string("series"), "color": .string("#b0f566")]),
                    ])
                ])
            ),
        ]
    }

    private static func hitchhiker(_ more: MapValue) -> MapValue {
        var fields = more
        fields["title"] = .string("The Hitchhiker's Guide to the Galaxy")
        fields["numberOfPages"] = .integer(816)
        fields["author"] = .string("Douglas Adams")
        return fields
    }

    private static let colors: [(String, MapValue)] = [
        ("colors/dZI8vLbiPai2nph7UAxv", ["name": .string("Carmine Pink"), "color": .string("#f05138")]),
        ("colors/mjioszEQCPMh0Mxqa7bs", ["name": .string("Cerise"), "color": .string("#d52c67")]),
    ]

    private static func offices() throws(StatusError) -> [(String, MapValue)] {
        [
            ("locations/googleHAM", try office("Google Hamburg", 53.553986, 9.9856482)),
            ("locations/googleNYC", try office("Google New York", 40.7414688, -74.0033873)),
            ("locations/googleSFO", try office("Google San Francisco", 37.7898829, -122.3915139)),
            ("locations/googleUK", try office("Google UK", 51.5327652, -0.1272025)),
            ("locations/googleplex", try office("Googleplex", 37.4207294, -122.084954)),
        ]
    }

    private static func office(_ name: String, _ latitude: Double, _ longitude: Double) throws(StatusError) -> MapValue {
        ["name": .string(name), "location": .geoPoint(try GeoPoint(validatingLatitude: latitude, longitude: longitude))]
    }

    private static func languages() throws(StatusError) -> [(String, MapValue)] {
        [
            ("programming-languages/3yDHZpqFGBgXNRfdxVX6", try language("name", "Ada", "1843-01-01T16:58:32Z")),
            ("programming-languages/JijOBVSn706HzXjbpTVD", try language("language_name", "BASIC", "1978-03-19T16:37:00Z")),
            ("programming-languages/O38uE17aHTN3zZxjQ100", try language("language_name", "Swift", "2014-09-09T08:00:47Z")),
            ("programming-languages/gXPTy6P27y1VT2HJ0vDb", try language("language_name", "TypeScript", "2012-06-06T13:28:00Z")),
        ]
    }

    private static func language(_ key: UTF8Key, _ name: String, _ year: String) throws(StatusError) -> MapValue {
        var fields: MapValue = ["year": .timestamp(try Timestamp(rfc3339: year))]
        fields[key] = .string(name)
        return fields
    }
}
