import DocumentModel
import HearthAPI
import JSONRPC
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import HearthClient

@Suite("JSON of queries")
struct QueryJSONTests {
    /// Encodes a query with the client and decodes it with the server.
    private func roundTrip(_ query: StructuredQuery) throws -> StructuredQuery {
        var writer = JSONWriter()
        writer.beginObject()
        query.writeMembers(to: &writer)
        writer.endObject()
        let json = try JSONText(writer.finish()).root
        return try QueryParameters.query(from: Arguments(object: json, at: .params, declared: QueryParameters.all))
    }

    @Test func `random queries survive a round trip to the server`() throws {
        var random = RandomQueries(generator: SeededGenerator())
        for _ in 0..<300 {
            let query = random.query()
            #expect(try roundTrip(query) == query, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }

    @Test func `values and names without a JSON equivalent are preserved`() throws {
        let odd = FieldPath(["a.b", "`\\", "é"])
        var query = StructuredQuery(.collection(try CollectionPath("c/é\u{301}/d")))
        query.filter = .and([
            .field(odd, .equal(.double(.nan))), .field(odd, .notEqual(.null)), .field(odd, .equal(.double(-0.0))),
            .field(odd, .arrayContains(.bytes([0, 255]))), .field(odd, .in([.array([.integer(.min)]), .map(["$x": .null])])),
        ])
        query.start = StructuredQuery.Cursor([.double(1), .integer(1)], isInclusive: true)
        query.end = StructuredQuery.Cursor([.timestamp(.maximum)], isInclusive: true)
        #expect(try roundTrip(query) == query)
    }
}
