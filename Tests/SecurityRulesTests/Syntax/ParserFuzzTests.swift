import DocumentModel
import SecurityRules
import StrictJSON
import TestSupport
import Testing
import UTF8Text

/// Compiles damaged files. `HEARTH_TEST_SEED` sets the seed.
@Suite("Damaged rules files")
struct ParserFuzzTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    private static let valid = RulesFixtures.rules(
        """
        function f(a, b) { let c = a.b['x'][0:1]; return c in [1, 2.5e3, b'\\x01'] ? !a : -b; }
        match /a/{x}/b/{y=**} { allow read, create: if f(get(D/a/$(x)).data, {'k': null, j: [],}) || 'é' is string; }
        """
    )

    @Test
    func `Any bytes are compiled or refused`() {
        var random = SeededGenerator()
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0..<60, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            compile(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test
    func `A file with pieces removed, repeated and exchanged is compiled or refused`() {
        var random = SeededGenerator()
        let scalars = Array(Self.valid.unicodeScalars)
        for _ in 0..<3_000 {
            var damaged = scalars
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let start = Int.random(in: damaged.indices, using: &random)
                let end = min(damaged.count, start + Int.random(in: 0..<8, using: &random))
                let piece = Array(damaged[start..<end])
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged.removeSubrange(start..<end)
                case 1: damaged.insert(contentsOf: piece, at: Int.random(in: damaged.indices, using: &random))
                default:
                    damaged[start] =
                        ["(", ")", "{", "}", "'", "/", "$", ".", ";", "\\", "\n", "0"].randomElement(using: &random) ?? "x"
                }
                if damaged.isEmpty { damaged = scalars }
            }
            compile(String(String.UnicodeScalarView(damaged)))
        }
    }

    @Test(arguments: [
        "(", "[", "{'a':", "!", "-", "f(", "a[", "/a/$(", "true ? ", "1 + ", "true && (", "a.", "match /a {", "{", "/*", "'",
    ])
    func `Deep nesting is refused without deep recursion`(opening: String) {
        let nested = String(repeating: opening, count: 10_000)
        compile("service cloud.firestore { match /a/{b} { allow read: if \(nested)")
        compile("service cloud.firestore { \(nested)")
        compile(nested)
    }

    private func compile(_ text: String) {
        do throws(RulesError) {
            let ruleset = try Ruleset(text)
            var session = RulesSession(collectsCoverage: true)
            // Cannot fail: valid paths.
            let path = try! DocumentPath("a/x/b/y")
            let query = try! ListQuery(StructuredQuery(.collection(path.collection)))
            for operation in [RulesRequest.Operation.get(path, stored: MapValue()), .list(query)] {
                let request = RulesRequest(authentication: nil, time: RulesFixtures.time, operation: operation)
                _ = ruleset.decide(request, in: &session, reading: { _ in ["b": .map(["x": .string("abc")])] })
            }
            let coverage = session.coverage ?? RulesCoverage()
            #expect((try? JSONText(coverage.emulatorJSON(of: ruleset))) != nil, Self.seed)
            #expect(!coverage.html(of: ruleset).isEmpty && coverage.lines(of: ruleset).count < 1_000, Self.seed)
        } catch {
            #expect(error.issues.contains { $0.severity == .error }, Self.seed)
        }
    }
}
