import DocumentModel
import Testing
import UTF8Text

@Suite("Aggregations")
struct AggregationTests {
    private static let v = try! FieldPath("v")  // Cannot fail: a literal with valid components.

    /// Returns count, sum and average of documents with these values of `v`; an empty string means a missing field.
    private func aggregate(_ values: [String]) throws -> [Value?] {
        let aggregations = try NormalizedAggregations([
            Aggregation(.count(upTo: nil)), Aggregation(.sum(Self.v)), Aggregation(.average(Self.v)),
        ])
        var state = AggregationState(aggregations)
        for value in values { state.add(try WriteFixtures.fields(value.isEmpty ? "{}" : #"{"v": \#(value)}"#)) }
        return aggregations.operations.map { state.results[$0.alias] }
    }

    @Test(
        arguments: [
            ([], 0, "0", "null"),
            (["1", "2", "3"], 3, "6", "2.0"),
            (["1", "2.5"], 2, "3.5", "1.75"),
            (["1", "2.0"], 2, "3.0", "1.5"),
            (["4", "3", "2", #""one""#], 4, "9", "3.0"),
            ([#""x""#, "null", "[1]"], 3, "0", "null"),
            (["1", #"{"$double": "NaN"}"#], 2, #"{"$double": "NaN"}"#, #"{"$double": "NaN"}"#),
            (["9223372036854775807", "1", "-101"], 3, "9223372036854775707", "3.0744573456182586e18"),
            (["9223372036854775807", "-9223372036854775807", "-101", "-10000"], 4, "-10101", "-2525.25"),
            (["9223372036854775807", "1"], 2, "9.223372036854775808e18", "4.611686018427387904e18"),
            (["-9223372036854775808", "-1"], 2, "-9.223372036854775808e18", "-4.611686018427387904e18"),
            (
                ["1.7976931348623157e308", "1.7976931348623157e308"],
                2,
                #"{"$double": "Infinity"}"#,
                #"{"$double": "Infinity"}"#
            ),
            (
                ["-1.7976931348623157e308", "-1.7976931348623157e308"],
                2,
                #"{"$double": "-Infinity"}"#,
                #"{"$double": "-Infinity"}"#
            ),
            ([#"{"$double": "Infinity"}"#, "1", "-5e300"], 3, #"{"$double": "Infinity"}"#, #"{"$double": "Infinity"}"#),
            ([#"{"$double": "Infinity"}"#, #"{"$double": "-Infinity"}"#], 2, #"{"$double": "NaN"}"#, #"{"$double": "NaN"}"#),
            (["9223372036854775807", "-9.223372036854775808e18", "2.0"], 3, "1.0", "0.3333333333333333"),
            (["5e-324", "0"], 2, "5e-324", "0.0"),
            (["1e100", "1.0", "-1e100"], 3, "1.0", "0.3333333333333333"),
            (["0.1", "0.2", "0.3"], 3, "0.6", "0.19999999999999998"),
        ] as [([String], Int64, String, String)]
    )
    func `Sums and averages of numbers are exact where possible`(
        values: [String],
        count: Int64,
        sum: String,
        average: String
    ) throws {
        let results = try aggregate(values)
        #expect(results == [.integer(count), try QueryFixtures.value(sum), try QueryFixtures.value(average)])
    }

    @Test
    func `Only documents with all aggregated fields are counted`() throws {
        #expect(try aggregate(["", ""]) == [.integer(0), .integer(0), .null])
        #expect(try aggregate(["1", "", "null"]) == [.integer(2), .integer(1), .double(1)])
    }

    @Test
    func `Nested fields are aggregated`() throws {
        let aggregations = try NormalizedAggregations([Aggregation(.sum(try FieldPath("stats.product")), alias: "p")])
        #expect(aggregations.fields.map(\.description) == ["stats.product"])
        var state = AggregationState(aggregations)
        state.add(try WriteFixtures.fields(#"{"stats": {"product": 2}}"#))
        state.add(try WriteFixtures.fields(#"{"stats": {"product": 3}, "p": 1}"#))
        #expect(state.results == ["p": .integer(5)])
    }

    @Test
    func `A limit applies in the order of the aggregated field, not by name`() throws {
        let product = try FieldPath("stats.product")
        let documents = (0..<25).map { (id: "\($0)", fields: #"{"stats": {"product": \#(($0 / 5) * ($0 % 5))}}"#) }
        let query = try NormalizedQuery(QueryFixtures.query(limit: .first(12)), aggregating: [product])
        var state = AggregationState(try NormalizedAggregations([Aggregation(.sum(product), alias: "s")]))
        for id in try query.ids(among: documents) {
            state.add(try WriteFixtures.fields(try #require(documents.first { $0.id == id }).fields))
        }
        #expect(state.results["s"] == .integer(5))
    }

    @Test
    func `Aggregations are complete when all counts have reached their maximums`() throws {
        var state = AggregationState(
            try NormalizedAggregations([Aggregation(.count(upTo: 2), alias: "few"), Aggregation(.count(upTo: 4), alias: "more")])
        )
        state.add(documents: 3)
        #expect(!state.isComplete)
        #expect(state.results == ["few": .integer(2), "more": .integer(3)])
        state.add(MapValue())
        #expect(state.isComplete)
        state.add(documents: 1)
        #expect(state.results == ["few": .integer(2), "more": .integer(4)])
        #expect(!AggregationState(try NormalizedAggregations([Aggregation(.count(upTo: nil))])).isComplete)
    }

    @Test
    func `Aggregations without an alias are numbered consecutively`() throws {
        let long = UTF8Key(String(repeating: "\"\\`.é", count: 500))
        let aggregations = try NormalizedAggregations([
            Aggregation(.count(upTo: nil)), Aggregation(.sum(Self.v), alias: long), Aggregation(.average(Self.v), alias: ""),
            Aggregation(.count(upTo: 1), alias: "e\u{301}"), Aggregation(.count(upTo: 1), alias: "é"),
        ])
        #expect(aggregations.operations.map(\.alias) == ["field_1", long, "field_2", "e\u{301}", "é"])
    }

    @Test(
        arguments: [
            ([], "aggregations", "Aggregations can not be empty"),
            (
                (0..<6).map { Aggregation(.count(upTo: nil), alias: UTF8Key("\($0)")) },
                "aggregations",
                "maximum number of aggregations"
            ),
            (
                [Aggregation(.count(upTo: nil), alias: "x"), Aggregation(.sum(v), alias: "x")],
                "aggregations[1].alias",
                "Aggregation aliases contain duplicate alias"
            ),
            (
                [Aggregation(.count(upTo: nil), alias: "field_1"), Aggregation(.sum(v))],
                "aggregations[1].alias",
                "Aggregation aliases contain duplicate alias"
            ),
            ([Aggregation(.count(upTo: 0))], "aggregations[0].count.upTo", "above 0"),
            ([Aggregation(.count(upTo: -1))], "aggregations[0].count.upTo", "above 0"),
            ([Aggregation(.sum(v)), Aggregation(.sum(.documentName))], "aggregations[1].sum", "reserved"),
            ([Aggregation(.average(.documentName))], "aggregations[0].average", "reserved"),
        ] as [([Aggregation], String, String)]
    )
    func `Invalid aggregations are rejected with the messages that clients recognize`(
        aggregations: [Aggregation],
        path: String,
        text: String
    ) throws {
        let error = try #require(throws: StatusError.self) { try NormalizedAggregations(aggregations) }
        #expect(error.code == .invalidArgument)
        #expect(error.parameterPath == path)
        #expect(error.message.contains(text))
    }
}
