import DocumentModel
import Foundation
import SecurityRules
import Testing
import UTF8Text

@Suite("Limits of evaluation")
struct EvaluationLimitTests {
    @Test(
        arguments: [
            ("true", 1), ("!true", 2), ("true && true", 4), ("false && true", 2), ("true || true", 2), ("false || true", 4),
            ("true ? true : false", 4), ("false ? false : true", 6), ("1 is int", 3), ("/a/b == /a/b", 7),
            ("/a/$('b') is path", 6),
            ("[1, 2].size() == 2", 6), ("{'a': 1}.a == 1", 5), ("request.auth.uid == 'u1'", 5), ("math.abs(1) == 1", 4),
            ("f(1) == 4", 11),
        ]
    )
    func `Every expression counts`(expression: String, count: Int) throws {
        let functions = "function f(a) { let b = a + 2; return b + 1; }"
        let database = try TestDatabase(RulesFixtures.rules("\(functions) match /a/{x} { allow get: if \(expression); }"))
        #expect(try database.decision(on: .get("a/b"), by: .u1).expressionCount == count)
    }

    @Test
    func `A request evaluates at most 1,000 expressions over all of its statements`() throws {
        let statement = "allow get: if \(Array(repeating: "true", count: 97).joined(separator: " && ")) && false;"
        func decision(_ count: Int) throws -> RulesDecision {
            let body = Array(repeating: statement, count: count).joined() + "allow get: if true;"
            return try TestDatabase(RulesFixtures.rules("match /a/{x} { \(body) }")).decision(on: .get("a/b"))
        }
        // Each statement has 292 expressions.
        #expect(try decision(3).isAllowed)
        let denied = try decision(4)
        #expect(!denied.isAllowed)
        #expect(
            denied.denials?.last?.error?.message
                == "Unable to evaluate the expression as the maximum of 1000 expressions to evaluate has been reached."
        )
    }

    @Test(arguments: [(10, true), (11, false)])
    func `A read may access 10 documents`(count: Int, isAllowed: Bool) throws {
        let reads = (0..<count).map { "!exists(D/d/\($0))" }.joined(separator: " && ")
        #expect(
            try TestDatabase(RulesFixtures.rules("match /a/{x} { allow get: if \(reads); }")).allows(.get("a/b")) == isAllowed
        )
    }

    @Test
    func `A repeated access is free, and an access too many is absorbed like other errors`() throws {
        let repeated = Array(repeating: "!exists(D/d/0)", count: 30).joined(separator: " && ")
        #expect(try TestDatabase(RulesFixtures.rules("match /a/{x} { allow get: if \(repeated); }")).allows(.get("a/b")))
        let many = (0..<11).map { "!exists(D/d/\($0))" }.joined(separator: " && ")
        #expect(try TestDatabase(RulesFixtures.rules("match /a/{x} { allow get: if \(many) || true; }")).allows(.get("a/b")))
    }

    @Test
    func `The work of evaluations that are repeated for a document counts`() throws {
        let text = String(repeating: "a", count: 950_000)
        let work = Array(repeating: "resource.data.s == '\(text.prefix(1_000))' + resource.data.s", count: 4)
        func allows(reads: Int) throws -> Bool {
            let terms = work.map { "!(\($0))" } + (0..<reads).map { "!exists(D/d/\($0))" }
            let rules = RulesFixtures.rules("match /a/{x} { allow get: if \(terms.joined(separator: " && ")); }")
            return try TestDatabase(rules, ["a/b": #"{"s": "\#(text)"}"#]).allows(.get("a/b"))
        }
        #expect(try allows(reads: 2))
        // Each read evaluates the condition once more, with more than a tenth of the work that a request may take.
        #expect(try !allows(reads: 10))
    }

    @Test(arguments: [(20, true), (21, false)])
    func `The writes of a commit may access 20 documents`(count: Int, isAllowed: Bool) throws {
        let rules = RulesFixtures.rules("match /a/{x} { allow write: if !exists(D/d/$(x)); }")
        let writes = (0..<count).map { TestRequest.set("a/\($0)", "{}") }
        #expect(try TestDatabase(rules).allows(.commit(writes)) == isAllowed)
    }

    @Test
    func `A condition reads documents of one snapshot, at most once each`() throws {
        let rules = RulesFixtures.rules(
            "match /a/{x} { allow get: if get(D/b/1).data.n + get(D/b/2).data.n == get(D/b/1).data.n + 1 && exists(D/b/2); }"
        )
        let ruleset = try Ruleset(rules)
        var session = RulesSession()
        let request = RulesRequest(
            authentication: nil,
            time: RulesFixtures.time,
            operation: .get(try DocumentPath("a/1"), stored: nil)
        )
        var reads: [String] = []
        let decision = ruleset.decide(
            request,
            in: &session,
            reading: { access in
                reads.append(access.path.string)
                return ["n": .integer(1)]
            }
        )
        #expect(decision.isAllowed)
        #expect(reads == ["b/1", "b/2"])
        #expect(decision.accesses.map(\.path.string) == ["b/1", "b/2"])
    }

    @Test(
        arguments: [
            // Doubles its size with each binding.
            "function f(a) { let b = a + a; let c = b + b; let d = c + c; let e = d + d; let g = e + e; return g + g; }",
            "function f(a) { let b = [a, a]; let c = [b, b]; let d = [c, c]; let e = [d, d]; let g = [e, e]; return [g, g]; }",
            "function f(a) { let b = {'a': a, 'b': a}; let c = [b, b]; let d = [c, c]; let e = [d, d]; return [e, e, e, e]; }",
        ]
    )
    func `Values cannot grow without limit`(function: String) throws {
        let calls = "f(f(f(f(f(f(f(f(f(f('0123456789'))))))))))"
        let outcome = try outcome(of: "\(calls) == \(calls)", functions: function)
        #expect(outcome.message == "Unable to evaluate the expression, since its values are too large.")
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["(a*)*b", "(a|aa)+b", "(.*)(.*)(.*)x", "(a?){50}a{50}b", "([a-z]+)*[0-9]"])
    func `No regular expression takes more than linear time`(pattern: String) throws {
        let database = try TestDatabase(
            RulesFixtures.rules("match /a/{x} { allow get: if resource.data.s.matches('\(pattern)'); }"),
            ["a/b": "{\"s\": \"\(String(repeating: "a", count: 20_000))\"}"]
        )
        #expect(try !database.allows(.get("a/b")))
    }

    @Test(arguments: [("!(", ")", 10, true), ("!(", ")", 40, false), ("[", "][0]", 10, true), ("[", "][0]", 40, false)])
    func `Deep stacks of calls with deep expressions are refused`(
        open: String,
        close: String,
        depth: Int,
        isEvaluated: Bool
    ) throws {
        let functions = (1...20).map { index in
            let (opening, closing) = (String(repeating: open, count: depth), String(repeating: close, count: depth))
            return "function f\(index)(x) { return \(opening)f\(index + 1)(x)\(closing); }"
        }
        let outcome = try outcome(of: "f1(true)", functions: functions.joined() + "function f21(x) { return x; }")
        #expect(outcome.value == (isEvaluated ? true : nil))
        #expect(isEvaluated || outcome.message == "Expression is too complex to evaluate safely.")
    }

    #if DEBUG
    private static let stackBytes = 4 << 20
    #else
    private static let stackBytes = 512 << 10
    #endif

    @Test(
        arguments: [
            ("!(", ")"), ("[", "]"), ("{'a': ", "}"), ("debug(", ")"), ("math.abs(", ")"), ("path(/a/$(", "))"),
            ("(true ? ", " : false)"),
            ("(true && ", ")"), ("{'a': 1}.get('a', ", ")"), ("'ab'[0:", "]"), ("-", ""),
        ]
    )
    func `The deepest evaluation needs at most 512 KiB of stack in a release build`(open: String, close: String) async throws {
        let functions = (1...21).map { index in
            let (opening, closing) = (String(repeating: open, count: 40), String(repeating: close, count: 40))
            return "function f\(index)() { return \(opening)\(index == 21 ? "1" : "f\(index + 1)()")\(closing); }"
        }
        let rules = RulesFixtures.rules("\(functions.joined()) match /a/{x} { allow get: if f1() == 1; }")
        let path = try DocumentPath("a/b")
        // A stack that is too small ends the process.
        let isDecided = await withCheckedContinuation { continuation in
            let thread = Thread {
                var session = RulesSession()
                let request = RulesRequest(authentication: nil, time: RulesFixtures.time, operation: .get(path, stored: nil))
                let decision = (try? Ruleset(rules))?.decide(request, in: &session, reading: { _ in nil })
                continuation.resume(returning: decision != nil)
            }
            thread.stackSize = Self.stackBytes
            thread.start()
        }
        #expect(isDecided)
    }
}
