import DocumentModel
import HearthService
import JSONRPC
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing

@testable import HearthClient

@Suite("The JSON of a query")
struct QueryJSONTests {
    /// What the server reads of what the client writes.
    private func sent(_ query: DocumentModel.Query) throws -> DocumentModel.Query {
        var writer = JSONWriter()
        writer.beginObject()
        query.writeMembers(to: &writer)
        writer.endObject()
        let json = try JSONText(writer.finish()).root
        return try QueryParameters.query(from: Arguments(object: json, at: .params, declared: QueryParameters.all))
    }

    @Test func `says to the server what was asked, whatever it is`() throws {
        var random = RandomQueries(generator: SeededGenerator())
        for _ in 0..<300 {
            let query = random.query()
            #expect(try sent(query) == query, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }

    @Test func `keeps values and names that JSON alone can't say`() throws {
        let odd = FieldPath(["a.b", "`\\", "é"])
        var query = DocumentModel.Query(.collection(try CollectionPath("c/é\u{301}/d")))
        query.filter = .and([
            .field(odd, .equal(.double(.nan))), .field(odd, .notEqual(.null)), .field(odd, .equal(.double(-0.0))),
            .field(odd, .arrayContains(.bytes([0, 255]))), .field(odd, .in([.array([.integer(.min)]), .map(["$x": .null])])),
        ])
        query.start = DocumentModel.Query.Cursor([.double(1), .integer(1)], isInclusive: true)
        query.end = DocumentModel.Query.Cursor([.timestamp(.maximum)], isInclusive: true)
        #expect(try sent(query) == query)
    }
}
