import SecurityRules
import Testing

@Suite("Checked rules")
struct CheckerTests {
    private func issues(_ text: String) -> [String] {
        do throws(RulesError) {
            return try Ruleset(text).warnings.map(\.description)
        } catch {
            return error.issues.map(\.description)
        }
    }

    private func issues(inBlock body: String, version: String = "2") -> [String] {
        issues(
            "rules_version = '\(version)';\nservice cloud.firestore { match /databases/{database}/documents {\n\(body)}}"
        )
    }

    @Test(
        arguments: [
            (
                "function f() { return 1; }\nfunction f() { return 2; } match /a/{b} { allow get: if f() == 1; }",
                ["4:10 - ERROR Function f is already defined."]
            ),
            ("function f() { return f(); }", ["3:10 - ERROR Recursive call is not allowed."]),
            (
                "function f() { return g(); } function g() { return f(); } function h() { return f(); }",
                [
                    "3:10 - ERROR Recursive call is not allowed.", "3:39 - ERROR Recursive call is not allowed.",
                    "3:68 - WARNING Unused function: h.",
                ]
            ),
            (
                "function f(a) { let a = 1; return a; } match /a/{b} { allow get: if f(1) == 1; }",
                ["3:21 - ERROR The identifier [a] is already bound in the current scope."]
            ),
            (
                "function f(a, a) { return a; } match /a/{b} { allow get: if f(1, 1) == 1; }",
                ["3:15 - ERROR The identifier [a] is already bound in the current scope."]
            ),
            (
                "function f(a, b, c, d, e, f, g, h) { return 1; } match /a/{b} { allow get: if f(1, 1, 1, 1, 1, 1, 1, 1) == 1; }",
                ["3:10 - ERROR The function has 8 parameters; the maximum is 7."]
            ),
            (
                "match /a/{b=**}/c/{d=**} { }",
                ["3:7 - ERROR Invalid glob match expression. Only one glob match is permitted in a match declaration path."]
            ),
            (
                "match /a/{b=**} { match /c/{d=**} { } }",
                ["3:25 - ERROR Invalid glob match expression. Only one glob match is permitted in a match declaration path."]
            ),
            ("match /a/{b} { allow get: if 'a'.matches('('); }", ["3:42 - ERROR Invalid regular expression: missing )."]),
            (
                "match /a/{b} { allow get: if 'a'.split('(?=a)') == []; }",
                ["3:40 - ERROR Invalid regular expression: invalid or unsupported Perl syntax: (?=."]
            ),
        ] as [(String, [String])]
    )
    func `An error is reported with its position`(body: String, expected: [String]) {
        #expect(issues(inBlock: body) == expected)
    }

    @Test(
        arguments: [
            ("match /a/{b} { allow get: if f(1); }", ["3:30 - WARNING Invalid function name: f."]),
            ("match /a/{b} { allow get: if 'a'.contains('a'); }", ["3:30 - WARNING Invalid function name: contains."]),
            ("match /a/{b} { allow get: if math.cube(1) == 1; }", ["3:30 - WARNING Invalid function name: math.cube."]),
            ("match /a/{b} { allow get: if c == 1; }", ["3:30 - WARNING Invalid variable name: c."]),
            (
                "match /a/{b} { allow get: if math.abs() == 1; }",
                ["3:30 - WARNING Incorrect number of arguments supplied to function: math.abs."]
            ),
            (
                "match /a/{b} { allow get: if get() == 1; }",
                ["3:30 - WARNING Incorrect number of arguments supplied to function: get."]
            ),
            (
                "function f() { return 1; } match /a/{b} { allow get: if f(1) == 1; }",
                ["3:57 - WARNING Incorrect number of arguments supplied to function: f."]
            ),
            ("function f() { return 1; }", ["3:10 - WARNING Unused function: f."]),
            (
                "match /a/{b} { allow read, write: if true; allow delete; allow create: if false; allow read; }",
                ["3:16", "3:44"].map {
                    "\($0) - WARNING Anyone can write these documents, even without signing in. Add a condition on request.auth."
                }
            ),
            (
                "function f() { let a = 1; let b = 2; return b; } match /a/{b} { allow get: if f() == 1; }",
                ["3:20 - WARNING Unused variable: a."]
            ),
            (
                "match /a/{b} { allow get: if 'a' != 1; }",
                ["3:30 - WARNING The sub-expressions are not comparable, so this comparison will always return true."]
            ),
            (
                "match /a/{b} { allow get: if 'a' == [1]; }",
                ["3:30 - WARNING The sub-expressions are not comparable, so this comparison will always return false."]
            ),
            ("match /a/{b} { allow get: if 1 == 1.0 && 'a' != null; }", []),
            (
                "match /a/{b} { allow read: if !('x' in resource.data); }",
                [
                    "3:32 - WARNING A query tells only the fields that it filters or sorts by. Queries for which the field of "
                        + "'in resource.data' is not among these are denied, unless another condition allows them."
                ]
            ),
            (
                "function f() { return resource.data.keys(); } match /a/{b} { allow list: if f().hasAll(['a']); }",
                [
                    "3:23 - WARNING A query tells only the fields that it filters or sorts by. Queries for which "
                        + "resource.data.keys() matters are denied, unless another condition allows them."
                ]
            ),
            ("match /a/{b} { allow get: if !('x' in resource.data); }", []),
            ("match /a/{b} { allow list: if resource.data != null; }", []),
            (
                "match /a/{b} { allow list: if resource.data == {}; }",
                [
                    "3:31 - WARNING A query tells only the fields that it filters or sorts by. Queries for which "
                        + "resource.data as a whole matters are denied, unless another condition allows them."
                ]
            ),
        ] as [(String, [String])]
    )
    func `A warning is reported with its position`(body: String, expected: [String]) {
        #expect(issues(inBlock: body) == expected)
    }

    @Test
    func `Version 1 has no bindings, and globs at the end alone`() {
        #expect(
            issues(inBlock: "function f() { let a = 1; return a; } match /a/{b} { allow get: if f() == 1; }", version: "1")
                == ["3:16 - ERROR 'let' needs rules_version = '2'."]
        )
        #expect(
            issues(inBlock: "match /{a=**}/b/{c} { }", version: "1") == [
                "3:7 - ERROR Invalid glob match expression. In rules_version = '1' a glob is the last segment of a path. "
                    + "Use rules_version = '2'."
            ]
        )
        #expect(issues("service cloud.firestore { match /a/{b=**} { allow read; } }").isEmpty)
    }
}

@Suite("Limits of rules files")
struct RulesLimitTests {
    private func compiles(_ body: String) -> Bool { (try? Ruleset(RulesFixtures.rules(body))) != nil }

    private func compiles(expression: String) -> Bool { compiles("match /a/{b} { allow get: if \(expression); }") }

    @Test(arguments: [(98, true), (99, false)])
    func `98 comparisons may be chained`(count: Int, isValid: Bool) {
        #expect(compiles(expression: Array(repeating: "1 == 1", count: count).joined(separator: " && ")) == isValid)
        #expect(compiles(expression: Array(repeating: "1 == 1", count: count).joined(separator: " || ")) == isValid)
    }

    @Test(arguments: [(97, true), (98, false)])
    func `97 parentheses may be nested`(count: Int, isValid: Bool) {
        let expression = String(repeating: "(", count: count) + "1 == 1" + String(repeating: ")", count: count)
        #expect(compiles(expression: expression) == isValid)
    }

    @Test(arguments: [(49, true), (50, false)])
    func `49 comparisons may be nested to the right`(count: Int, isValid: Bool) {
        let open = Array(repeating: "1 == 1", count: count).joined(separator: " && (")
        #expect(compiles(expression: open + String(repeating: ")", count: count - 1)) == isValid)
    }

    @Test(arguments: [(21, true), (22, false)])
    func `21 functions may be on the stack of calls`(count: Int, isValid: Bool) {
        let functions = (1..<count).map { "function f\($0)() { return f\($0 + 1)(); }" }
        #expect(compiles((functions + ["function f\(count)() { return true; }"]).joined()) == isValid)
    }

    @Test
    func `A deep stack of calls is named`() throws {
        let functions = (1..<22).map { "function f\($0)() { return f\($0 + 1)(); }" } + ["function f22() { return true; }"]
        let error = try #require(throws: RulesError.self) { try Ruleset(RulesFixtures.rules(functions.joined())) }
        let errors = error.issues.filter { $0.severity == .error }
        let stack = (1...22).map { "f\($0)" }.joined(separator: "->")
        #expect(errors.map(\.message) == ["Maximum allowed call depth of 20 is reached for [\(stack)] call stack."])
    }

    @Test(arguments: [(11, true), (12, false)])
    func `A function may have 11 bindings`(count: Int, isValid: Bool) {
        let bindings = (1...count).map { "let v\($0) = \($0);" }.joined()
        #expect(compiles("function f() { \(bindings) return 1; }") == isValid)
    }

    @Test(arguments: [(9, true), (10, false)])
    func `10 match blocks may be nested`(count: Int, isValid: Bool) {
        // Inside of the block of the database.
        #expect(compiles(String(repeating: "match /a/{b} {", count: count) + String(repeating: "}", count: count)) == isValid)
    }

    @Test(arguments: [(19, true), (20, false)])
    func `A path may have 20 wildcards`(count: Int, isValid: Bool) {
        #expect(compiles("match " + (0..<count).map { "/{w\($0)}" }.joined() + " { }") == isValid)
    }

    @Test(arguments: [(97, true), (98, false)])
    func `A path may have 100 segments`(count: Int, isValid: Bool) {
        #expect(compiles("match " + String(repeating: "/a", count: count) + " { }") == isValid)
    }

    @Test(arguments: [(262_144, true), (262_145, false)])
    func `A file may have 256 KiB`(count: Int, isValid: Bool) {
        let rules = RulesFixtures.rules("")
        #expect(((try? Ruleset(rules + String(repeating: " ", count: count - rules.utf8.count))) != nil) == isValid)
    }

    @Test
    func `A file may have 50,000 expressions`() throws {
        func rules(_ count: Int) -> String {
            let list = "[" + Array(repeating: "1", count: count - 3).joined(separator: ",") + "]"
            return RulesFixtures.rules("match /a/{b} { allow get: if \(list) == 1; }")
        }
        _ = try Ruleset(rules(50_000))
        let error = try #require(throws: RulesError.self) { try Ruleset(rules(50_001)) }
        #expect(error.description.hasPrefix("4:"))
        #expect(
            error.description.hasSuffix(
                "ERROR The rules have 50001 expressions; the maximum is 50000. Move conditions that are repeated to functions."
            )
        )
    }

    @Test
    func `Long names are shortened in messages`() throws {
        let name = String(repeating: "a", count: 1_000)
        let short = String(repeating: "a", count: 80) + "…"
        let body = "function \(name)() { let \(name)b = 1; return c\(name); } match /a/{b} { allow get: if d\(name)(); }"
        let messages = try Ruleset(RulesFixtures.rules(body)).warnings.map(\.message)
        #expect(messages.contains("Unused function: \(short)."))
        #expect(messages.contains("Unused variable: \(short)."))
        #expect(messages.contains("Invalid variable name: c\(short.dropFirst())."))
        #expect(messages.contains("Invalid function name: d\(short.dropFirst())."))
        #expect(try outcome(of: "d\(name)()").message == "Function not found error: Name: [d\(short.dropFirst())].")
    }
}
