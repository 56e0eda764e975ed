import DocumentModel
import SecurityRules
import TestSupport
import Testing
import UTF8Text

@Suite("Fields that rules use")
struct ResourceFieldTests {
    @Test(
        arguments: [
            ("true", []),
            ("resource.data.owner == request.auth.uid", ["owner"]),
            ("resource.data.b.c[0] == 1 && resource.data.a is string && resource.id == 'x'", ["a", "b"]),
            ("isOwner('x') || resource.data.isPublic", ["isPublic", "owner"]),
            ("resource.__name__ == D/c/x && resource.data['owner'] == 'x'", nil),
            ("resource.data.keys().hasAll(['a'])", nil),
            ("'a' in resource.data", nil),
            ("resource.data.get('a', 1) == 1", nil),
            ("resource == null || resource.data.a == 1", nil),
            ("data().a == 1", nil),
            ("bound()", nil),
            ("fieldsOf(resource).a == 1", nil),
        ] as [(String, [UTF8Key]?)]
    )
    func `The fields are those that a get reads from the document`(condition: String, fields: [UTF8Key]?) throws {
        let ruleset = try Ruleset(Self.rules(condition))
        #expect(ruleset.fieldsForGet == fields)
    }

    /// Rules of a get, beside others for writes, which use all fields.
    private static func rules(_ condition: String) -> String {
        RulesFixtures.rules(
            """
            function isOwner(id) { return resource.data.owner == id; }
            function data() { return resource.data; }
            function bound() { let data = resource.data; return data.a == 1; }
            function fieldsOf(document) { return document.data; }
            match /c/{id} {
              allow get: if \(condition);
              allow update: if resource.data == request.resource.data;
            }
            """
        )
    }

    @Test func `A decision about these fields is that about the whole document`() throws {
        var generator = SeededGenerator()
        var (decisions, allowed) = (0, 0)
        for _ in 0..<2_000 {
            let ruleset = try Ruleset(Self.rules(Self.condition(depth: 3, &generator)))
            guard let names = ruleset.fieldsForGet else { continue }
            var whole = MapValue()
            for name in ["a", "b", "c", "owner", "z"] as [UTF8Key] where Bool.random(using: &generator) {
                whole[name] = [.integer(1), .string("x"), .null, .array([.integer(1)])].randomElement(using: &generator)
            }
            var part = MapValue()
            for name in names { part[name] = whole[name] }
            let (first, second) = (try Self.decision(ruleset, whole), try Self.decision(ruleset, part))
            #expect(first.isAllowed == second.isAllowed && first.explanation == second.explanation, Self.seed)
            #expect(first.expressionCount == second.expressionCount, Self.seed)
            decisions += 1
            if first.isAllowed { allowed += 1 }
        }
        #expect(decisions > 500 && allowed > 50 && allowed < decisions - 50, Self.seed)
    }

    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    private static func condition(depth: Int, _ generator: inout SeededGenerator) -> String {
        if depth > 0, Int.random(in: 0..<3, using: &generator) > 0 {
            let (left, right) = (condition(depth: depth - 1, &generator), condition(depth: depth - 1, &generator))
            let operation = ["&&", "||"].randomElement(using: &generator) ?? "&&"
            return "(\(left) \(operation) \(right))"
        }
        let conditions = [
            "resource.data.a == 1", "resource.data.b == 'x'", "resource.data.c == null", "resource.data.a is string",
            "resource.data.c[0] == 1", "isOwner('x')", "resource.id == 'x'", "!(resource.data.b in [1, 'x'])", "true",
            "resource.data.size() > 2",
        ]
        return conditions.randomElement(using: &generator) ?? "true"
    }

    private static func decision(_ ruleset: Ruleset, _ fields: MapValue) throws -> RulesDecision {
        let request = RulesRequest(
            authentication: nil,
            time: RulesFixtures.time,
            operation: .get(try RulesFixtures.path("c/x"), stored: fields)
        )
        var session = RulesSession()
        return ruleset.decide(request, in: &session, reading: { (_: DocumentAccess) throws(Never) in nil })
    }
}
