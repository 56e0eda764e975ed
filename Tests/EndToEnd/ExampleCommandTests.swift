import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("hearth example load", .tags(.slow), .timeLimit(.minutes(10)))
struct ExampleCommandTests {
    /// The expected export of the guide, independent of the implementation.
    private static let guide = #"""
        {"path":"books/hitchhiker","fields":{"author":"Douglas Adams","field-doesnt-exist-in-struct":"hello","numberOfPages":816,"title":"The Ultimate Hitchhiker's Guide to the Galaxy"}}
        {"path":"books/hitchhiker-genre","fields":{"author":"Douglas Adams","genres":["Sci-Fi","Comedy"],"numberOfPages":816,"title":"The Hitchhiker's Guide to the Galaxy"}}
        {"path":"books/hitchhiker-image-urls","fields":{"author":"Douglas Adams","color":"#fd1c48","cover":{"large":"https://covers.openlibrary.org/b/id/10555691-L.jpg","medium":"https://covers.openlibrary.org/b/id/10555691-M.jpg","small":"https://covers.openlibrary.org/b/id/10555691-S.jpg"},"numberOfPages":816,"title":"The Hitchhiker's Guide to the Galaxy"}}
        {"path":"books/hitchhiker-tags","fields":{"author":"Douglas Adams","numberOfPages":816,"tags":[{"color":"#ec4be9","title":"fun"},{"color":"#b0f566","title":"series"}],"title":"The Hitchhiker's Guide to the Galaxy"}}
        {"path":"books/invalid-data","fields":{"author":"Peter","numberOfPages":"twohundredfifty","title":"SwiftUI and Combine"}}
        {"path":"colors/dZI8vLbiPai2nph7UAxv","fields":{"color":"#f05138","name":"Carmine Pink"}}
        {"path":"colors/mjioszEQCPMh0Mxqa7bs","fields":{"color":"#d52c67","name":"Cerise"}}
        {"path":"locations/googleHAM","fields":{"location":{"$geoPoint":{"latitude":53.553986,"longitude":9.9856482}},"name":"Google Hamburg"}}
        {"path":"locations/googleNYC","fields":{"location":{"$geoPoint":{"latitude":40.7414688,"longitude":-74.0033873}},"name":"Google New York"}}
        {"path":"locations/googleSFO","fields":{"location":{"$geoPoint":{"latitude":37.7898829,"longitude":-122.3915139}},"name":"Google San Francisco"}}
        {"path":"locations/googleUK","fields":{"location":{"$geoPoint":{"latitude":51.5327652,"longitude":-0.1272025}},"name":"Google UK"}}
        {"path":"locations/googleplex","fields":{"location":{"$geoPoint":{"latitude":37.4207294,"longitude":-122.084954}},"name":"Googleplex"}}
        {"path":"programming-languages/3yDHZpqFGBgXNRfdxVX6","fields":{"name":"Ada","year":{"$timestamp":"1843-01-01T16:58:32.000000Z"}}}
        {"path":"programming-languages/JijOBVSn706HzXjbpTVD","fields":{"language_name":"BASIC","year":{"$timestamp":"1978-03-19T16:37:00.000000Z"}}}
        {"path":"programming-languages/O38uE17aHTN3zZxjQ100","fields":{"language_name":"Swift","year":{"$timestamp":"2014-09-09T08:00:47.000000Z"}}}
        {"path":"programming-languages/gXPTy6P27y1VT2HJ0vDb","fields":{"language_name":"TypeScript","year":{"$timestamp":"2012-06-06T13:28:00.000000Z"}}}
        """#

    @Test func `guide writes exactly sixteen documents`() async throws {
        try await withServer { server in
            #expect(try await hearth("example", "load", "guide", "--server", server.address).status == .code(0))
            let export = try await hearth("export", "--server", server.address)
            #expect(export.output == Self.guide.split(separator: "\n").map(String.init))
            let collections = try await hearth("list", "--server", server.address)
            #expect(collections.output == ["books", "colors", "locations", "programming-languages"])
        }
    }

    @Test func `The file of the guide can be imported`() async throws {
        let file = URL(filePath: #filePath).appending(path: "../../../Examples/guide.ndjson").standardizedFileURL
        try await withServer { server in
            #expect(try await hearth("import", file.path, "--server", server.address).output == ["16 documents imported"])
            let export = try await hearth("export", "--server", server.address)
            #expect(export.output == Self.guide.split(separator: "\n").map(String.init))
        }
    }

    @Test func `The error names a folder without the example data`() async throws {
        let folder = try TemporaryFolder()
        for name in ["Templates", "Public"] { try folder.write("", to: "\(name)/empty") }
        let result = try await hearth("example", "load", "guide", "--assets", folder.path)
        #expect(result.status == .code(1))
        #expect(result.errorText.contains("\(folder.path)/Examples/guide.ndjson doesn't exist."))
    }

    @Test func `places has a document for every row of the time zone table`() async throws {
        let rows = try String(contentsOfFile: "/usr/share/zoneinfo/zone.tab", encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: "\t").map(String.init) }
        try await withServer { server in
            #expect(try await hearth("example", "load", "places", "--server", server.address).status == .code(0))
            let export = try await hearth("export", "places", "--server", server.address)
            let places = try export.output.map { try MapValue(json: #require(JSONText($0).root["fields"])) }
            #expect(places.count == rows.count)
            let byZone = Dictionary(uniqueKeysWithValues: places.map { ($0["zone"], $0) })
            for row in rows {
                let place = try #require(byZone[.string(row[2])])
                #expect(place["countryCode"] == .string(row[0]))
                #expect(place["comments"] == (row.count > 3 ? .string(row[3]) : nil))
            }
            let buenosAires = try await server.connection.document(at: DocumentPath("places/America~Argentina~Buenos_Aires"))
            let fields = try buenosAires.decoded().fields
            #expect(fields["name"] == .string("Buenos Aires"))
            #expect(fields["location"] == .geoPoint(try GeoPoint(validatingLatitude: -34.6, longitude: -58.45)))
        }
    }

    @Test func `colors includes every row of the color table`() async throws {
        let rows = try String(contentsOfFile: "/etc/X11/rgb.txt", encoding: .utf8)
            .split(separator: "\n").filter { !$0.hasPrefix("!") }
            .map { row in
                let levels = row.split(whereSeparator: \.isWhitespace).prefix(3).map { Int($0) ?? -1 }
                let name = row.drop { $0.isNumber || $0.isWhitespace }
                return (name: String(name), color: String(format: "#%02x%02x%02x", levels[0], levels[1], levels[2]))
            }
        try await withServer { server in
            #expect(try await hearth("example", "load", "colors", "--server", server.address).status == .code(0))
            let export = try await hearth("export", "x11-colors", "--server", server.address)
            var colors: [String: String] = [:]
            for line in export.output {
                let fields = try #require(JSONText(line).root["fields"])
                for name in try #require(fields["names"]?.elements) {
                    colors[try #require(name.string)] = fields["color"]?.string
                }
            }
            #expect(colors == Dictionary(uniqueKeysWithValues: rows.map { ($0.name, $0.color) }))
            let ghostWhite = try await server.connection.document(at: DocumentPath("x11-colors/ghostwhite")).decoded().fields
            #expect(
                ghostWhite == [
                    "name": .string("ghost white"),
                    "names": .array([.string("ghost white"), .string("GhostWhite")]),
                    "color": .string("#f8f8ff"),
                    "tags": .array([.string("white"), .string("light")]),
                ]
            )
        }
    }
}
