import SecurityRules
import Testing

@Suite("Functions, bindings and scopes")
struct ScopeTests {
    @Test
    func `A function sees the wildcards and functions around its definition`() throws {
        let database = try TestDatabase(
            """
            rules_version = '2';
            function id(x) { return x; }
            service cloud.firestore {
              function isOne(x) { return id(x) == '1'; }
              match /databases/{db}/documents {
                match /a/{x} {
                  function outer() { return isOne(x); }
                  allow get: if outer();
                  match /b/{x} {
                    function inner() { return x == '2' && outer(); }
                    allow get: if inner();
                  }
                }
              }
            }
            """
        )
        #expect(try database.allows(.get("a/1")))
        #expect(try !database.allows(.get("a/2")))
        #expect(try database.allows(.get("a/1/b/2")))
        #expect(try !database.allows(.get("a/1/b/1")))
        #expect(try !database.allows(.get("a/2/b/2")))
    }

    @Test
    func `An inner function shadows an outer one`() throws {
        let database = try TestDatabase(
            RulesFixtures.rules(
                """
                function f() { return false; }
                match /a/{x} { function f() { return true; } allow get: if f(); }
                match /b/{x} { allow get: if f(); }
                """
            )
        )
        #expect(try database.allows(.get("a/1")))
        #expect(try !database.allows(.get("b/1")))
    }

    @Test
    func `A function does not see the wildcards of its caller`() throws {
        let rules = RulesFixtures.rules("function f() { return x == '1'; } match /a/{x} { allow get: if f(); }")
        let database = try TestDatabase(rules)
        #expect(database.ruleset.warnings.map(\.message) == ["Invalid variable name: x."])
        #expect(try !database.allows(.get("a/1")))
    }

    @Test(
        arguments: [
            ("function f(a, b) { let c = a + b; let d = c * 2; return d; }", "f(1, 2) == 6"),
            ("function f(request) { return request; }", "f(1) == 1"),
            ("function f(resource) { let x = resource; return x; }", "f(1) == 1"),
            ("function math(x) { return x; }", "math(1) == 1 && math.abs(-1) == 1"),
            ("function get(x) { return x; }", "get(1) == 1"),
            ("function f(string) { return string(string); }", "f(1) == '1'"),
            ("function f() { return g(); } function g() { return 1; }", "f() == 1"),
            ("function f() { return request.auth.uid; }", "f() == 'u1'"),
            ("function f() { return 1 }", "f() == 1"),
            ("function f(a) { return a; } function g(a) { return f(a + 1) + a; }", "g(1) == 3"),
        ]
    )
    func `Functions compute their results`(functions: String, expression: String) throws {
        let outcome = try outcome(of: expression, functions: functions)
        #expect(outcome.value == true, "\(outcome.message)")
    }

    @Test
    func `The error of an unused binding fails the call`() throws {
        let functions = "function f() { let x = 1 / 0; return true; }"
        #expect(try outcome(of: "f()", functions: functions).value == nil)
        #expect(try outcome(of: "f() || true", functions: functions).value == true)
    }

    @Test
    func `A call with the wrong number of arguments is an error`() throws {
        let outcome = try outcome(of: "f(1)", functions: "function f() { return true; }")
        #expect(outcome.message == "Incorrect number of arguments. Received: 1. Expected: 0.")
    }
}
