import DocumentModel
import SecurityRules
import Synchronization
import Testing
import UTF8Text

@Suite("Decisions")
struct DecisionTests {
    private static let rules = RulesFixtures.rules(
        """
        match /a/{id} {
          allow get: if resource.data.x == 1;
          allow get: if request.auth.uid == id;
          allow create: if request.resource.data.x
            .size() == 1;
          allow list: if resource.data.x == 1;
        }
        """
    )

    @Test(
        arguments: [
            (TestRequest.get("a/b"), "\nevaluation error at L5:17 for 'get' @ L5, evaluation error at L6:17 for 'get' @ L6"),
            (.get("a/c"), "\nfalse for 'get' @ L5, evaluation error at L6:17 for 'get' @ L6"),
            (.set("a/d", #"{"x": 1}"#), "\nevaluation error at L7:20 for 'create' @ L7"),
            (.set("a/d", #"{"x": "ab"}"#), "\nfalse for 'create' @ L7"),
            (.list(TestQuery("a")), "\nNull value error. for 'list' @ L9"),
            (.list(TestQuery("a", where: "y == 1")), "\nProperty x is undefined on object. for 'list' @ L9"),
            (.list(TestQuery("a", where: "x > 0")), "\nThe query does not determine the value. for 'list' @ L9"),
            (.delete("a/c"), "\nNo matching allow statements"),
            (.get("z/z"), "\nNo matching allow statements"),
        ]
    )
    func `A denial tells the statements that did not grant`(request: TestRequest, explanation: String) throws {
        let database = try TestDatabase(Self.rules, ["a/c": #"{"x": 2}"#])
        let decision = try database.decision(on: request)
        #expect(!decision.isAllowed)
        #expect(decision.grants.isEmpty)
        #expect(decision.explanation == explanation)
    }

    @Test
    func `A grant tells its statement`() throws {
        let decision = try TestDatabase(Self.rules).decision(on: .get("a/u1"), by: .u1)
        #expect(decision.isAllowed)
        #expect(decision.grants.map(\.description) == ["6:3"])
        #expect(decision.explanation.isEmpty)
    }

    @Test(
        arguments: [
            ("request.time > resource.data.x", true), ("request.auth == null", false), ("f(request)", true),
            ("request.auth != null && request.time != null", false),
        ]
    )
    func `A decision tells whether it depends on the time`(condition: String, dependsOnTime: Bool) throws {
        let rules = RulesFixtures.rules("function f(r) { return r.auth == null; } match /a/{id} { allow get: if \(condition); }")
        #expect(try TestDatabase(rules).decision(on: .get("a/b")).dependsOnTime == dependsOnTime)
    }

    @Test
    func `An asynchronous reader is awaited`() async throws {
        let ruleset = try Ruleset(RulesFixtures.rules("match /a/{id} { allow get: if get(D/b/$(id)).data.open; }"))
        var session = RulesSession()
        let request = RulesRequest(
            authentication: nil,
            time: RulesFixtures.time,
            operation: .get(try DocumentPath("a/1"), stored: nil)
        )
        let decision = await ruleset.decide(request, in: &session) { access in
            await Task.yield()
            return access == DocumentAccess(try! DocumentPath("b/1")) ? ["open": .boolean(true)] : nil  // A valid path.
        }
        #expect(decision.isAllowed)
    }

    @Test
    func `A value passed to debug is shown once, even if documents are read after it`() throws {
        let shown = Mutex<[String]>([])
        let environment = RulesEnvironment(debug: { text in shown.withLock { $0.append(text) } })
        let expression = "debug({'a': [1, 'x']}).a[0] == 1 && !exists(/databases/$(database)/documents/b/c)"
        #expect(try outcome(of: expression, environment: environment).value == true)
        #expect(shown.withLock(\.self) == ["{'a': [1, 'x']}"])
    }

    @Test
    func `Reads see the state before a commit, and getAfter the state after it`() throws {
        let database = try TestDatabase(
            RulesFixtures.rules(
                """
                match /a/{id} { allow write: if get(D/b/1).data.n == 1 && getAfter(D/b/1).data.n == 2
                  && exists(D/b/2) && !existsAfter(D/b/2) && !exists(D/b/3) && existsAfter(D/b/3); }
                match /b/{id} { allow write; }
                """
            ),
            ["b/1": #"{"n": 1}"#, "b/2": "{}"]
        )
        let siblings: [TestRequest] = [.set("b/1", #"{"n": 2}"#), .delete("b/2"), .set("b/3", "{}")]
        #expect(try database.allows(.commit([.set("a/1", "{}")] + siblings)))
        #expect(try database.allows(.commit(siblings + [.set("a/1", "{}")])))
        #expect(try !database.allows(.set("a/1", "{}")))
    }

    @Test
    func `Users and documents whose names differ in normalization alone are different`() throws {
        let rules = RulesFixtures.rules("match /a/{id} { allow get: if request.auth.uid == id && request.auth.token.n == 1; }")
        let database = try TestDatabase(rules)
        let user = TestUser(uid: "\u{e9}", claims: #"{"n": 1}"#)
        #expect(try database.allows(.get("a/\u{e9}"), by: user))
        #expect(try !database.allows(.get("a/e\u{301}"), by: user))
    }

    @Test
    func `Several databases have their own paths`() throws {
        let rules = "rules_version = '2'; service cloud.firestore { match /databases/main/documents/a/{id} { allow get; } }"
        let ruleset = try Ruleset(rules)
        for (database, isAllowed) in [("main", true), ("other", false)] {
            var session = RulesSession()
            let request = RulesRequest(
                database: UTF8Key(database),
                authentication: nil,
                time: RulesFixtures.time,
                operation: .get(try DocumentPath("a/1"), stored: nil)
            )
            #expect(ruleset.decide(request, in: &session, reading: { _ in nil }).isAllowed == isAllowed)
        }
    }
}

@Suite("Coverage reports")
struct CoverageTests {
    @Test
    func `A report has the values of all expressions, with their numbers`() throws {
        let ruleset = try Ruleset(RulesFixtures.rules("match /a/{id} { allow get: if id == 'x' || resource.data.n > 1; }"))
        var coverage = RulesCoverage()
        for id in ["x", "y", "y"] {
            var session = RulesSession(collectsCoverage: true)
            let request = RulesRequest(
                authentication: nil,
                time: RulesFixtures.time,
                operation: .get(try DocumentPath("a/\(id)"), stored: ["n": .integer(2)])
            )
            _ = ruleset.decide(request, in: &session, reading: { _ in nil })
            coverage.merge(try #require(session.coverage))
        }
        let report = try #require(coverage.reports(of: ruleset).first)
        #expect(texts(report) == ["true: 3"])
        #expect(report.children.map(texts) == [["false: 2", "true: 1"], ["true: 2"]])
        // The constants have no report.
        #expect(report.children[0].children.map(texts) == [["'x': 1", "'y': 2"]])
        #expect(RulesCoverage().reports(of: ruleset).first.map(texts) == [])
    }

    private func texts(_ report: RulesCoverage.Report) -> [String] {
        report.values.map { "\($0.text): \($0.count)" }
    }
}
