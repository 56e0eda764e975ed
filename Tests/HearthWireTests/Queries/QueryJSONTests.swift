import DocumentModel
import HearthAPI
import HearthWire
import JSONRPC
import QueryTestSupport
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("JSON of queries")
struct QueryJSONTests {
    /// Encodes a query as clients do and decodes it as the server does.
    private func roundTrip(_ query: StructuredQuery) throws -> StructuredQuery {
        var writer = JSONWriter()
        writer.beginObject()
        query.writeMembers(to: &writer)
        writer.endObject()
        let json = try JSONText(writer.finish()).root
        return try QueryParameters.query(from: Arguments(object: json, at: .params, declared: QueryParameters.all))
    }

    @Test func `Random queries survive a round trip to the server`() throws {
        var random = RandomQueries(generator: SeededGenerator())
        for _ in 0..<300 {
            let query = random.query()
            #expect(try roundTrip(query) == query, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }

    @Test func `Values and names without a JSON equivalent are preserved`() throws {
        let odd = try FieldPath(segments: ["a.b", "`\\", "é"])
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

extension QueryJSONTests {
    @Test func `A query has the documented JSON`() throws {
        var query = StructuredQuery(.collectionGroup(try CollectionID("reviews"), below: try DocumentPath("books/a")))
        query.filter = .or([
            .field(try FieldPath("stars"), .in([.integer(4), .integer(5)])),
            .field(
                try FieldPath("location"),
                .near(try GeoCircle(center: GeoPoint(validatingLatitude: 53.5, longitude: 10), radius: 5_000))
            ),
            .field(
                try FieldPath("location"),
                .within(
                    try GeoBox(
                        southWest: GeoPoint(validatingLatitude: -1, longitude: 170),
                        northEast: GeoPoint(validatingLatitude: 1, longitude: -170)
                    )
                )
            ),
        ])
        query.orders = [.init(.field(try FieldPath("stars")), .descending)]
        query.start = StructuredQuery.Cursor([.integer(5)], isInclusive: false)
        query.end = StructuredQuery.Cursor([.integer(1)], isInclusive: true)
        query.offset = 3
        query.limit = .first(20)
        query.projection = [try FieldPath("stars")]
        query.vectorSearch = VectorSearch(
            field: try FieldPath("v"),
            vector: [1, 2],
            measure: .euclidean,
            limit: 5,
            distanceField: try FieldPath("d"),
            threshold: 0.5
        )
        let text = written { writer in
            writer.beginObject()
            query.writeMembers(to: &writer)
            writer.endObject()
        }
        #expect(
            text
                == #"{"parent":"books/a","collectionGroup":"reviews","where":{"or":[{"field":"stars","op":"in","value":[4,5]},"#
                + #"{"field":"location","op":"near","value":{"center":{"$geoPoint":{"latitude":53.5,"longitude":10.0}},"#
                + #""radius":5000.0}},{"field":"location","op":"within","value":{"southWest":{"$geoPoint":{"latitude":-1.0,"#
                + #""longitude":170.0}},"northEast":{"$geoPoint":{"latitude":1.0,"longitude":-170.0}}}}]},"#
                + #""orderBy":[{"field":"stars","direction":"desc"}],"startAfter":{"values":[5]},"endAt":{"values":[1]},"#
                + #""offset":3,"limit":20,"select":["stars"],"findNearest":{"field":"v","vector":{"$vector":[1.0,2.0]},"#
                + #""measure":"euclidean","limit":5,"distanceResultField":"d","distanceThreshold":0.5}}"#
        )
    }
}
