import DocumentModel
import Testing

@Suite("Vector search")
struct VectorSearchTests {
    private func search(
        _ vector: [Double] = [1, 2, 3],
        _ measure: VectorSearch.Measure = .euclidean,
        threshold: Double? = nil
    ) throws -> VectorSearch {
        VectorSearch(field: try FieldPath("m.v"), vector: vector, measure: measure, limit: 10, threshold: threshold)
    }

    private func distance(_ search: VectorSearch, to json: String) throws -> Double? {
        search.distance(of: try WriteFixtures.fields(#"{"m": {"v": \#(json)}}"#))
    }

    @Test(
        arguments: [
            (VectorSearch.Measure.euclidean, [1.0, 2, 3], [1.0, 2, 3], 0.0),
            (.euclidean, [1, 2, 3], [2, 2, 3], 1),
            (.euclidean, [0, 0], [3, 4], 5),
            (.cosine, [1, 2, 3], [1, 2, 3], 0),
            (.cosine, [1, 2, 3], [3, 4, 5], 0.017292370176009153),
            (.cosine, [1, 0], [0, 7], 1),
            (.cosine, [1, 1], [-2, -2], 2),
            (.cosine, [0.1, 0.3], [0.3, 0.9], 0),
            (.cosine, [1e200, 0], [1e200, 0], 0),
            (.dotProduct, [1, 2, 3], [4, 5, 6], 32),
            (.dotProduct, [1, -2], [1, 2], -3),
        ]
    )
    func `Distances equal Firestore's`(measure: VectorSearch.Measure, left: [Double], right: [Double], expected: Double) {
        #expect(abs(measure.distance(from: left, to: right) - expected) < 1e-15)
        #expect(measure.distance(from: left, to: right) == measure.distance(from: right, to: left))
    }

    @Test(
        arguments: [
            "null", "[1, 2, 3]", #""x""#, #"{"$vector": [1, 2]}"#, #"{"$vector": []}"#,
            #"{"$vector": [1, 2, {"$double": "NaN"}]}"#,
        ]
    )
    func `Values that are not vectors of the same dimensions, or have no distance, are excluded`(json: String) throws {
        #expect(try distance(search(), to: json) == nil)
        #expect(try search().distance(of: MapValue()) == nil)
    }

    @Test
    func `A zero vector has no cosine distance`() throws {
        #expect(try distance(search([1, 2, 3], .cosine), to: #"{"$vector": [0, 0, 0]}"#) == nil)
        #expect(try distance(search([1, 2, 3], .dotProduct), to: #"{"$vector": [0, 0, 0]}"#) == 0)
    }

    @Test(
        arguments: [
            (VectorSearch.Measure.euclidean, 1.0, "[2, 2, 3]", true), (.euclidean, 0.999, "[2, 2, 3]", false),
            (.cosine, 0.02, "[3, 4, 5]", true), (.cosine, 0.01, "[3, 4, 5]", false),
            (.dotProduct, 32, "[4, 5, 6]", true), (.dotProduct, 32.5, "[4, 5, 6]", false), (.dotProduct, 31, "[4, 5, 6]", true),
        ]
    )
    func `Distances up to the threshold are included`(
        measure: VectorSearch.Measure,
        threshold: Double,
        vector: String,
        isFound: Bool
    ) throws {
        let found = try distance(search([1, 2, 3], measure, threshold: threshold), to: #"{"$vector": \#(vector)}"#)
        #expect((found != nil) == isFound)
    }

    @Test
    func `Results are ordered by smallest distance or largest dot product`() {
        #expect(VectorSearch.Measure.euclidean.isCloser(1, than: 2))
        #expect(VectorSearch.Measure.cosine.isCloser(1, than: 2))
        #expect(VectorSearch.Measure.dotProduct.isCloser(2, than: 1))
        #expect(!VectorSearch.Measure.dotProduct.isCloser(2, than: 2))
    }
}
