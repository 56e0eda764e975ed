import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Searches of packed vectors")
struct PackedVectorSearchTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    /// A kind of components.
    private enum Kind: CaseIterable {
        case single
        case double
        case small
        case tiny
        case subnormal
        case large
        case huge
        case special
        case zero
    }

    private func component(_ kind: Kind, _ generator: inout SeededGenerator) -> Double {
        let unit = Double.random(in: -1...1, using: &generator)
        switch kind {
        case .single: return Double(Float(unit))
        case .double: return unit
        case .small: return unit * 1e-12
        case .tiny: return unit * 1e-30
        case .subnormal: return unit * 1e-40 * (generator.chance(50) ? 1 : 1e-270)
        case .large: return unit * 1e18
        case .huge: return unit * (generator.chance(50) ? 1e38 : 1e300)
        case .special: return [Double.infinity, -.infinity, .nan, -0.0, unit].randomElement(using: &generator) ?? 0
        case .zero: return 0
        }
    }

    private func vector(_ count: Int, _ generator: inout SeededGenerator) -> [Double] {
        let kind = Kind.allCases.randomElement(using: &generator) ?? .single
        let isMixed = generator.chance(10)
        return (0..<count).map { _ in
            component(isMixed ? Kind.allCases.randomElement(using: &generator) ?? kind : kind, &generator)
        }
    }

    @Test
    func `Bounds of distances contain the distances of the original vectors`() throws {
        var generator = SeededGenerator()
        let field = try FieldPath("v")
        var (exactCount, roundedCount) = (0, 0)
        for _ in 0..<6_000 {
            let count = generator.chance(80) ? Int.random(in: 1...70, using: &generator) : 600
            let measure = VectorSearch.Measure.allCases.randomElement(using: &generator) ?? .cosine
            let query = vector(count, &generator)
            var stored = vector(count, &generator)
            // Often close to the query vector.
            if generator.chance(30) { stored = query.map { $0 * (1 + Double.random(in: -1e-6...1e-6, using: &generator)) } }
            var search = VectorSearch(field: field, vector: query, measure: measure, limit: 1)
            let distance = search.distance(of: ["v": .vector(stored)])
            if generator.chance(30), let distance { search.threshold = distance * (generator.chance(50) ? 1 : 1.000_001) }
            guard query.allSatisfy(\.isFinite), let packedSearch = PackedVectorSearch(search) else { continue }
            let packed = PackedVector(stored)
            #expect(packed.bytes.count == packedSearch.byteCount)
            let (lower, ranks) = packed.bytes.withUnsafeBytes { bytes in
                (packedSearch.lowerBound(bytes), packedSearch.ranks(bytes, isExact: packed.isExact))
            }
            let rank = search.distance(of: ["v": .vector(stored)]).map { packedSearch.rank(of: $0) }
            if packed.isExact {
                exactCount += 1
                #expect(ranks == rank.map { $0...$0 }, "\(measure) \(query) \(stored) \(Self.seed)")
            } else if let rank {
                roundedCount += 1
                #expect(ranks?.contains(rank) == true, "\(measure) \(query) \(stored) \(Self.seed)")
            }
            if let rank { #expect(!(lower > rank), "\(measure) \(query) \(stored) \(lower) \(rank) \(Self.seed)") }
        }
        #expect(exactCount > 200 && roundedCount > 200, Self.seed)
    }

    @Test(
        arguments: VectorSearch.Measure.allCases
    )
    func `Bounds of usual vectors are narrow`(measure: VectorSearch.Measure) throws {
        var generator = SeededGenerator()
        let query = (0..<768).map { _ in component(.double, &generator) }
        let search = VectorSearch(field: try FieldPath("v"), vector: query, measure: measure, limit: 1)
        let packedSearch = try #require(PackedVectorSearch(search))
        for _ in 0..<20 {
            let stored = (0..<768).map { _ in component(.double, &generator) }
            let scale = measure == .cosine ? 1.0 : measure == .dotProduct ? 256 : 16
            let packed = PackedVector(stored)
            #expect(!packed.isExact)
            packed.bytes.withUnsafeBytes { bytes in
                let ranks = packedSearch.ranks(bytes, isExact: false) ?? -.infinity ... .infinity
                #expect(ranks.upperBound - ranks.lowerBound < 1e-6 * scale)
                #expect(ranks.lowerBound - packedSearch.lowerBound(bytes) < 3e-5 * scale)
            }
        }
    }

    @Test
    func `A vector is exact if single precision can represent its components`() {
        let exact = PackedVector([0.5, -0.0, 0.25, .infinity, .nan, Double(Float.leastNonzeroMagnitude)])
        #expect(exact.isExact)
        let restored = exact.bytes.withUnsafeBytes { [Double](packed: $0) }
        #expect(restored[0] == 0.5 && restored[1].sign == .minus && restored[3] == .infinity && restored[4].isNaN)
        #expect(!PackedVector([0.1]).isExact && !PackedVector([1e39]).isExact && !PackedVector([1e-60]).isExact)
        #expect(PackedVector([]).bytes.isEmpty)
    }

    @Test
    func `Query vectors beyond single precision are not searched`() throws {
        let field = try FieldPath("v")
        for vector in [[1e300], [1e39], [1e16]] {
            #expect(PackedVectorSearch(VectorSearch(field: field, vector: vector, measure: .euclidean, limit: 1)) == nil)
        }
        for measure in VectorSearch.Measure.allCases {
            let search = VectorSearch(field: field, vector: [0, 1e-200], measure: measure, limit: 1)
            #expect((PackedVectorSearch(search) == nil) == (measure != .euclidean))
        }
    }
}
