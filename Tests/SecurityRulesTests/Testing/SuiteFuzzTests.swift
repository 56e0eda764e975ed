import DocumentModel
import SecurityRules
import StrictJSON
import TestSupport
import Testing

/// Runs damaged test suites. `HEARTH_TEST_SEED` sets the seed.
@Suite("Damaged test suites")
struct SuiteFuzzTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    private static let valid = #"""
        {"documents": {"a/b": {"n": 1}}, "testCases": [
          {"name": "x", "expectation": "ALLOW", "request": {"auth": {"uid": "u"}, "method": "get", "path": "a/b"},
           "resource": {"data": {"n": [1]}, "id": "b"}, "expressionReportLevel": "FULL", "pathEncoding": "URL_ENCODED"},
          {"expectation": "DENY", "request": {"method": "list", "path": "a", "query": {"limit": 1, "orderBy": [{"field": "n"}],
            "where": {"and": [{"field": "n", "op": "in", "value": [1, 2]}]}, "startAt": {"values": [1]}}},
           "functionMocks": [{"function": "get", "args": [{"anyValue": {}}], "result": {"value": {"data": {}}}}]},
          {"expectation": "ALLOW", "request": {"writes": [{"method": "set", "path": "a/c", "data": {}}]}}]}
        """#

    @Test
    func `A suite with exchanged values is run or refused`() throws {
        let words = [
            "{}", "[]", "null", "0", "-1", "1e400", "\"\"", "\"a/b\"", "\"/databases//documents/a\"", "\"get\"", "\"list\"",
            "\"delete\"",
            "\"%2F\"", "\"__name__\"", "{\"$bytes\": \"\"}", "{\"a/b\": null}", "true",
        ]
        let ruleset = try Ruleset(
            RulesFixtures.rules("match /{d=**} { allow read, write: if get(D/a/b).data.n == 1 || resource == null; }")
        )
        var random = SeededGenerator()
        var runCount = 0
        for _ in 0..<3_000 {
            var pieces = Self.valid.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let index = Int.random(in: 1..<pieces.count, using: &random)
            // Replaces a scalar after a colon, or leaves the JSON invalid.
            let rest = pieces[index].firstIndex { ",}]".contains($0) }.map { pieces[index][$0...] } ?? ""
            pieces[index] = " " + (words.randomElement(using: &random) ?? "") + rest
            guard let text = try? JSONText(pieces.joined(separator: ":")) else { continue }
            do throws(StatusError) {
                let report = try RulesTestSuite(text).run(on: ruleset, at: RulesFixtures.time)
                #expect((try? JSONText(report.json)) != nil && report.lines.count > report.results.count, Self.seed)
                runCount += 1
            } catch {
                #expect(error.code == .invalidArgument && !error.message.isEmpty, Self.seed)
            }
        }
        #expect(runCount > 0, Self.seed)
    }
}
