import SecurityRules
import Testing

@Suite("Operators")
struct OperatorTests {
    @Test(
        arguments: [
            // Precedence.
            "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "-7 / 2 == -3", "10 - 2 - 3 == 5", "7 % 4 * 2 == 6", "!false && true",
            "true || false && false", "1 < 2 == true", "1 + 1 in [2]", "1 in [1] is bool", "true ? true : false ? false : false",
            "false ? false : true ? true : false", "!(1 in [2])", "-(-1) == 1", "!!true", "4/ 2 == 2", "1 in [1] == true",
            // Numbers.
            "1 == 1.0", "5 / 2 == 2", "-5 / 2 == -2", "5 % -3 == 2", "-5 % 3 == -2", "5 / 2.0 == 2.5", "1.0 / 0 > 1000",
            "math.isNaN(0.0 / 0)", "1e3 == 1000.0", "2 is int", "2.0 is float", "!(2.0 is int)", "2 is number", "2.5 is number",
            "9223372036854775807 < 9223372036854775808.0", "-9223372036854775808 < 0", "9007199254740993 != 9007199254740992.0",
            "1 != 2", "!(0.0 / 0 == 0.0 / 0)", "-9223372036854775808 % -1 == 0",
            // Strings, lists, maps.
            "'a' + 'b' == \"ab\"", "'a' < 'b'", "'Z' < 'a'", "'' < 'a'", "'é' > 'z'", "b'a' < b'b'", "[1, [2]] == [1, [2]]",
            "[1] != [1.0]", "{'a': 1} == {a: 1}", "{'a': 1, 'a': 2}.a == 2", "[1, 2,].size() == 2", "{'a': 1,}.size() == 1",
            "'a' in {'a': null}", "!('b' in {'a': 1})", "1 in [1].toSet()", "null in [null]", "[[1]][0][0] == 1",
            "'abc'[1] == 'b'",
            "'abc'[1:1] == ''", "[1, 2, 3][1:3] == [2, 3]", "{'a': 1}['a'] == 1", "null == null", "!(null == 1)", "1 != null",
            "'x' == 'x' && 'é' != 'e\u{301}'", "b'\\x68\\151' == b'hi'", "'\\\\.\\'\\\"\\n\\r\\t\\/'.size() == 8",
            // Paths.
            "/a/b/c == path('a/b/c')", "/a/$('b')/c[1] == 'b'", "/a/(default)[1] == '(default)'", "/a/b is path", "/a/b != /a/c",
            "string(/a/b) == '/a/b'", "path('/a/b') == /a/b", "path('a//b') != /a/b", "path('a/b/') != /a/b",
            "path('users/{uid}').bind({'uid': 'alice'}) == path('users/alice')",
            "path('users/{uid}').bind({'uid': 'alice'}).uid == 'alice'", "path('users/{uid}').bind({'uid': 'x'})['uid'] == 'x'",
            "request.path == /databases/(default)/documents/a/b", "request.path[3] == 'a'", "resource.__name__ == request.path",
            "resource.data.r == /databases/$(database)/documents/users/u1",
            // Time.
            "request.time + duration.value(1, 's') > request.time", "duration.value(1, 's') + request.time > request.time",
            "request.time - duration.value(1, 'd') == timestamp.date(2024, 4, 30) + duration.value(12, 'h')",
            "request.time - timestamp.date(2024, 5, 1) == duration.time(12, 0, 0, 0)",
            "duration.value(1, 'm') - duration.value(1, 's') == duration.value(59, 's')",
            "duration.value(1, 'm') < duration.value(1, 'h')",
            // Types.
            "true is bool", "b'' is bytes", "duration.value(1, 's') is duration", "latlng.value(1, 2) is latlng", "[] is list",
            "{} is map", "'' is string", "request.time is timestamp", "!(null is string)", "!(1 is string)",
            "resource.data is map",
            "request.auth.uid is string",
        ]
    )
    func `An expression is true`(expression: String) throws {
        let outcome = try outcome(of: expression)
        #expect(outcome.value == true, "\(outcome.message)")
    }

    @Test(
        arguments: [
            ("1 / 0 == 1", "Divide by zero error."),
            ("1 % 0 == 1", "Divide by zero error."),
            ("9223372036854775807 + 1 == 0", "The result does not fit in 64 bits."),
            ("-9223372036854775808 - 1 == 0", "The result does not fit in 64 bits."),
            ("9223372036854775807 * 2 == 0", "The result does not fit in 64 bits."),
            ("-9223372036854775808 / -1 == 0", "The result does not fit in 64 bits."),
            ("-(-9223372036854775808) == 0", "The result does not fit in 64 bits."),
            ("'a' + 1 == 'a1'", "Unsupported operation error. Received: string + int. Expected: int + int, float + float, "),
            ("[1] + [2] == [1, 2]", "Unsupported operation error. Received: list + list."),
            ("request.time < 5", "Unsupported operation error. Received: timestamp < int. Expected: "),
            ("true < false", "Unsupported operation error. Received: bool < bool."),
            ("[1] < [2]", "Unsupported operation error. Received: list < list."),
            ("null < 1", "Null value error."),
            ("null + 1 == 1", "Null value error."),
            ("null.a == 1", "Null value error."),
            ("null.size() == 1", "Null value error."),
            ("1 in null", "Null value error."),
            ("1 in 'abc'", "Function not found error: Name: [in]."),
            ("1 in {'a': 1}", "Unsupported operation error. Received: int in map."),
            ("!x in [true]", "Variable not found error: Name: [x]."),
            ("!1", "Unsupported operation error. Received: !int. Expected: !bool."),
            ("-'a' == 'a'", "Unsupported operation error. Received: -string."),
            ("1", "Unsupported operation error. Received: if int."),
            ("null", "Null value error."),
            ("'true'", "Unsupported operation error. Received: if string."),
            ("1 ? true : true", "Unsupported operation error. Received: ?int."),
            ("1 / 0 == 0 ? true : true", "Divide by zero error."),
            ("{'a': 1}.b == null", "Property b is undefined on object."),
            ("{'a': 1}['b'] == null", "Property b is undefined on object."),
            ("'a'.b == null", "Property b is undefined on object."),
            ("[1, 2][2] == 1", "Index out of bound error. Index: [2] , size: [2]."),
            ("[1, 2][-1] == 1", "Index out of bound error. Index: [-1] , size: [2]."),
            ("[1, 2][0:0] == []", "Index out of bound error. Index: [0] , size: [2]."),
            ("[1, 2][2:2] == []", "Index out of bound error. Index: [2] , size: [2]."),
            ("[1, 2, 3][2:1] == []", "Illegal range error. From index: [2] , To index: [1]."),
            ("[][0:0] == []", "Index out of bound error. Index: [0] , size: [0]."),
            ("'abc'[0:4] == 'abc'", "Index out of bound error. Index: [4] , size: [3]."),
            ("{'a': 1}[0] == 1", "Unsupported operation error. Received: map.[](int)."),
            ("/a/$('') == /a", "The string '' is no path segment, since it is empty or has a slash."),
            ("/a/$('b/c') == /a/b/c", "The string 'b/c' is no path segment, since it is empty or has a slash."),
            ("/a/$(1) == /a", "Unsupported operation error. Received: $int. Expected: $string."),
            ("/a/$(null) == /a", "Null value error."),
            ("f(1) == 1", "Function not found error: Name: [f]."),
            ("'a'.contains('a')", "Function not found error: Name: [contains]."),
            ("'a'.year() == 1", "Function not found error: Name: [year]."),
            ("request.query.limit == 1", "Property query is undefined on object."),
            ("request.resource == null", "Property resource is undefined on object."),
            ("timestamp.date(9999, 12, 31) + duration.value(1, 'd') > request.time", "The result does not fit in 64 bits."),
        ]
    )
    func `An invalid operation is an error with its reason`(expression: String, message: String) throws {
        let outcome = try outcome(of: expression)
        #expect(outcome.value == nil)
        #expect(outcome.message.hasPrefix(message), "\(outcome.message)")
    }
}

@Suite("Logic over errors")
struct LogicTests {
    private static let operands: [(text: String, value: Bool?)] = [
        ("true", true), ("false", false), ("(1 / 0 == 1)", nil), ("null", nil), ("1", nil), ("missing", nil),
    ]

    @Test(arguments: operands.map(\.text), operands.map(\.text))
    func `An operand that decides absorbs the error of the other one`(left: String, right: String) throws {
        let values = Dictionary(uniqueKeysWithValues: Self.operands)
        let (first, second) = (values[left] ?? nil, values[right] ?? nil)
        let and: Bool? = first == false || second == false ? false : first == nil || second == nil ? nil : true
        let or: Bool? = first == true || second == true ? true : first == nil || second == nil ? nil : false
        #expect(try outcome(of: "\(left) && \(right)").value == and)
        #expect(try outcome(of: "\(left) || \(right)").value == or)
        #expect(try outcome(of: "!(\(left) && \(right))").value == and.map { !$0 })
    }

    @Test
    func `A condition with an error does not keep the next statement from granting`() throws {
        let database = try TestDatabase(
            RulesFixtures.rules("match /a/{id} { allow get: if 1 / 0 == 1; allow read: if resource.x == 1; allow get: if true; }")
        )
        let decision = try database.decision(on: .get("a/b"))
        #expect(decision.isAllowed)
        #expect(decision.grants.map(\.line) == [4])
    }

    @Test
    func `The left operand decides without the right one`() throws {
        let database = try TestDatabase(
            RulesFixtures.rules(
                """
                match /a/{id} { allow get: if true || exists(D/x/y);
                  allow list: if false && exists(D/x/y); }
                """
            )
        )
        #expect(try database.decision(on: .get("a/b")).accesses.isEmpty)
        #expect(try database.decision(on: .list(TestQuery("a"))).accesses.isEmpty)
    }
}
