import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Value round trips", .timeLimit(.minutes(10)))
struct EndToEndValueRoundTripTests {
    /// A document with every value type, and with values that are often corrupted.
    private static func fields() throws -> MapValue {
        [
            "null": .null,
            "booleans": .array([.boolean(true), .boolean(false)]),
            "integers": .array([.integer(.min), .integer(.max), .integer(0), .integer(9_007_199_254_740_993)]),
            "doubles": .array([
                .double(1), .double(-0.0), .double(0.1), .double(1e300), .double(.leastNonzeroMagnitude), .double(.nan),
                .double(.infinity), .double(-.infinity),
            ]),
            "timestamps": .array([
                .timestamp(.minimum), .timestamp(.maximum), .timestamp(try Timestamp(rfc3339: "1843-01-01T16:58:32.000001Z")),
            ]),
            "strings": .array([
                .string(""), .string("line\u{2028}separators\u{2029}and\r\n\u{0}\u{7f}"), .string("astral 𝄞🐵🄟"),
                .string("e\u{301} and \u{e9}"), .string("\u{FEFF}mark"), .string("\"quoted\\\"</script>"),
            ]),
            "bytes": .bytes(Array(0...255)),
            "reference": .reference(try DocumentPath("books/hitchhiker/reviews/r1")),
            "geoPoint": .geoPoint(try GeoPoint(validatingLatitude: -90, longitude: 180)),
            "vector": .vector([1, -0.0, .nan, 0.5]),
            "map": .map(["nested": .map(["empty": .map([:]), "list": .array([.map(["x": .null])])])]),
            "dollar": .map(["$timestamp": .string("not a time"), "$own": .integer(1)]),
            "caf\u{e9}": .string("composed"),
            "cafe\u{301}": .string("decomposed"),
            "a.b": .integer(1),
            " ": .integer(2),
            "\u{2028}": .integer(3),
        ]
    }

    private static let path = "kinds/\u{e9}~e\u{301} 🐵.json"

    @Test func `Values survive a call, a restart and another call`() async throws {
        try await withTemporaryFolder { folder in
            let path = try DocumentPath(Self.path)
            let server = try await EndToEndServer(data: folder)
            _ = try await server.connection.set(path, Self.fields())
            #expect(try await server.connection.document(at: path).decoded().fields == Self.fields())
            #expect(try await server.stop() == .code(0))

            let again = try await EndToEndServer(data: folder)
            #expect(try await again.connection.document(at: path).decoded().fields == Self.fields())
            #expect(try await again.stop() == .code(0))
        }
    }

    @Test func `Values survive the command line as argument, file and standard input`() async throws {
        try await withServer { server in
            var writer = JSONWriter()
            try Self.fields().write(to: &writer)
            let json = String(decoding: writer.finish(), as: UTF8.self)
            let file = server.folder.appendingPathComponent("../fields.json")
            try Data(json.utf8).write(to: file)
            for (id, argument) in [("argument", json), ("file", "@\(file.path)"), ("input", "-")] {
                let set = try await hearth("set", "kinds/\(id)", argument, "--server", server.address, input: json)
                #expect(set.status == .code(0), "\(set)")
                let get = try await hearth("get", "kinds/\(id)", "--server", server.address)
                let line = try #require(get.output.first)
                let document = try JSONText(line).root
                #expect(try MapValue(json: #require(document["fields"])) == Self.fields())
            }
        }
    }

    @Test func `Values survive the watch stream as initial state and as change`() async throws {
        try await withServer { server in
            let path = try DocumentPath(Self.path)
            _ = try await server.connection.set(path, Self.fields())
            var isChanged = false
            for try await frame in try await server.connection.watch(.document(path)) {
                guard let document = try frame.document() else {
                    guard frame.kind == .current else { continue }
                    _ = try await server.connection.set(path, ["changed": .map(Self.fields())])
                    continue
                }
                #expect(document.path == path)
                isChanged = frame.kind == .modified
                #expect(try document.decoded().fields == (isChanged ? ["changed": .map(Self.fields())] : Self.fields()))
                if isChanged { break }
            }
            #expect(isChanged)
        }
    }

    @Test func `Document files are formatted with one field per line`() async throws {
        try await withServer { server in
            let path = try DocumentPath("books/hitchhiker")
            _ = try await server.connection.set(
                path,
                ["title": .string("Ünïcode ☕"), "pages": .integer(816), "weight": .double(1)]
            )
            let document = try await server.connection.document(at: path)
            let file = try String(contentsOf: server.file("books/hitchhiker"), encoding: .utf8)
            #expect(
                file == """
                    {
                      "pages": 816,
                      "title": "Ünïcode ☕",
                      "weight": 1.0,
                      "$document": {
                        "createTime": "\(document.createTime.rfc3339)",
                        "updateTime": "\(document.updateTime.rfc3339)"
                      }
                    }

                    """
            )
        }
    }
}
