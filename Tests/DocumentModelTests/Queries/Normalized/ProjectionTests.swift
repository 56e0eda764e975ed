import DocumentModel
import Testing

@Suite("Projections")
struct ProjectionTests {
    private static let document = #"{"a":1,"d":{"x":0},"stats":{"product":6,"sum":5},"t":[{"x":1}]}"#

    @Test(
        arguments: [
            ([], document),
            (["__name__"], "{}"),
            (["a"], #"{"a":1}"#),
            (["a", "__name__"], #"{"a":1}"#),
            (["stats.product"], #"{"stats":{"product":6}}"#),
            (["stats.sum", "stats.product"], #"{"stats":{"product":6,"sum":5}}"#),
            (["stats.product", "stats"], #"{"stats":{"product":6,"sum":5}}"#),
            (["missing", "a.b", "stats.missing", "t.x"], "{}"),
        ]
    )
    func `Nested fields keep their parent maps`(fields: [String], expected: String) throws {
        var query = try QueryFixtures.query()
        query.projection = try fields.map { try QueryFixtures.field($0) }
        let normalized = try NormalizedQuery(query)
        #expect(normalized.projected(try WriteFixtures.fields(Self.document)).json == expected)
        #expect(normalized.returnsWholeDocuments == fields.isEmpty)
    }

    @Test(
        arguments: [
            ("d", [], #"{"a":1,"d":0.5,"stats":{"product":6,"sum":5},"t":[{"x":1}]}"#),
            ("d", ["a"], #"{"a":1}"#),
            ("d", ["a", "d"], #"{"a":1,"d":0.5}"#),
            ("stats.d", ["stats"], #"{"stats":{"d":0.5,"product":6,"sum":5}}"#),
        ]
    )
    func `The distance replaces a field of that name, if it is projected`(
        field: String,
        projection: [String],
        expected: String
    ) throws {
        var query = try QueryFixtures.query()
        query.projection = try projection.map { try QueryFixtures.field($0) }
        query.vectorSearch = VectorSearch(
            field: try FieldPath("v"),
            vector: [1],
            measure: .cosine,
            limit: 1,
            distanceField: try FieldPath(field)
        )
        let normalized = try NormalizedQuery(query)
        #expect(normalized.projected(try WriteFixtures.fields(Self.document), distance: 0.5).json == expected)
        #expect(!normalized.returnsWholeDocuments)
    }
}
