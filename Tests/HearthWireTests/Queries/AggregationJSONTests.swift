import DocumentModel
import HearthWire
import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@testable import HearthAPI

@Suite("JSON of aggregations")
struct AggregationJSONTests {
    private static func aggregations() throws -> [(Aggregation, String)] {
        [
            (Aggregation(.count(upTo: nil)), #"{"count":{}}"#),
            (Aggregation(.count(upTo: 10), alias: "books"), #"{"count":{"upTo":10},"alias":"books"}"#),
            (Aggregation(.sum(try FieldPath("a.b")), alias: "total"), #"{"sum":"a.b","alias":"total"}"#),
            (Aggregation(.average(try FieldPath(segments: ["é ."]))), #"{"average":"`é .`"}"#),
        ]
    }

    @Test func `Aggregations have the documented JSON`() throws {
        for (aggregation, text) in try Self.aggregations() {
            #expect(written { aggregation.write(to: &$0) } == text)
        }
    }

    @Test func `Aggregations of a client are read by the server`() throws {
        let aggregations = try Self.aggregations().map(\.0)
        let text = written { writer in
            writer.beginObject()
            writer.array(AggregationQueryKeys.aggregations, of: aggregations) { $0.write(to: &$1) }
            writer.endObject()
        }
        let arguments = try Arguments(object: parsed(text), at: .params, declared: [NormalizedAggregations.parameter])
        #expect(try arguments[NormalizedAggregations.parameter].map(\.aggregation) == aggregations)
    }
}
