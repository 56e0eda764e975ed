import SecurityRules
import Testing

@Suite("Syntax errors")
struct SyntaxErrorTests {
    /// Returns the errors of a text, each as `line:column - ERROR message`.
    private func errors(_ text: String) -> [String] {
        do throws(RulesError) {
            _ = try Ruleset(text)
            return []
        } catch {
            return error.description.split(separator: "\n").map(String.init)
        }
    }

    @Test(
        arguments: [
            ("", ["1:1 - ERROR Unexpected '<EOF>'."]),
            ("rules_version = '2';", ["1:21 - ERROR Unexpected '<EOF>'."]),
            ("rules_version = '3';", ["1:17 - ERROR Unknown rules version '3'. Use '1' or '2'."]),
            ("rules_version = 2;", ["1:17 - ERROR mismatched input '2' expecting '1' or '2'"]),
            ("rules_version = '2'", ["1:20 - ERROR Unexpected '<EOF>'."]),
            ("rules_version = '2+modules';", ["1:17 - ERROR Modules are not supported. Use rules_version = '2' and one file."]),
            ("import {f} from './x';", ["1:1 - ERROR Modules are not supported: copy the functions into this file."]),
            ("function f() { return 1; }\nrules_version = '2';", ["2:1 - ERROR Unexpected 'rules_version'."]),
            ("service firebase.storage {}", ["1:9 - ERROR Unknown service 'firebase.storage'. Expected 'cloud.firestore'."]),
            ("service cloud.firestore {}\nfunction f() { return 1; }", ["2:1 - ERROR Unexpected 'function'."]),
            ("service cloud.firestore {} service cloud.firestore {}", ["1:28 - ERROR A file has one service. Merge the two."]),
            ("service cloud.firestore {", ["1:26 - ERROR Unexpected '<EOF>'."]),
            ("service cloud.firestore { allow read; }", ["1:27 - ERROR Unexpected 'allow'."]),
            ("service cloud.firestore { match a { } }", ["1:33 - ERROR mismatched input 'a' expecting '/'"]),
            ("service cloud.firestore { match / a { } }", ["1:33 - ERROR Unexpected '/'."]),
            ("service cloud.firestore { match /a/ { } }", ["1:35 - ERROR mismatched input '/' expecting '{'"]),
            ("service cloud.firestore { match /{a=*} { } }", ["1:38 - ERROR mismatched input '}' expecting '*'"]),
            (
                "service cloud.firestore { match /{math} { } }",
                ["1:35 - ERROR The package name 'math' cannot be the name of a variable."]
            ),
            ("service cloud.firestore { match /{in} { } }", ["1:35 - ERROR Unexpected 'in'. A keyword cannot be a name."]),
            ("/* open", ["1:1 - ERROR The comment is not closed. Add '*/'."]),
            ("service cloud.firestore { §}", ["1:27 - ERROR Unexpected '§'."]),
        ] as [(String, [String])]
    )
    func `An error of a declaration has its position`(text: String, errors expected: [String]) {
        #expect(errors(text) == expected)
    }

    @Test(
        arguments: [
            (
                "allow;",
                ["4:6 - ERROR mismatched input ';' expecting {'read', 'write', 'get', 'list', 'create', 'update', 'delete'}"]
            ),
            (
                "allow all;",
                ["4:7 - ERROR mismatched input 'all' expecting {'read', 'write', 'get', 'list', 'create', 'update', 'delete'}"]
            ),
            ("allow read: true;", ["4:13 - ERROR mismatched input 'true' expecting 'if'"]),
            ("allow read: if;", ["4:15 - ERROR Missing conditional expression after 'if'."]),
            ("allow read: if true", []),
            ("allow read: if true allow write;", ["4:21 - ERROR mismatched input 'allow' expecting ';'"]),
            ("allow read: if (true;", ["4:21 - ERROR mismatched input ';' expecting ')'"]),
            ("allow read: if f(1;", ["4:19 - ERROR mismatched input ';' expecting ')'"]),
            ("allow read: if [1;", ["4:18 - ERROR mismatched input ';' expecting ']'"]),
            ("allow read: if {1: 2};", ["4:17 - ERROR mismatched input '1' expecting a string or a name as the key"]),
            (
                "allow read: if (4/2) == 2;",
                [
                    "4:18 - ERROR Missing 'match' keyword before path.",
                    "4:18 - ERROR Unexpected '/2'. To divide, put a blank after the slash.",
                ]
            ),
            ("allow read: if 4 / 2 == 2;", []),
            ("allow read: if 1 +;", ["4:19 - ERROR Unexpected ';'."]),
            ("allow read: if a = 1;", ["4:18 - ERROR mismatched input '=' expecting ';'"]),
            ("allow read: if a & b;", ["4:18 - ERROR Unexpected '&'."]),
            ("allow read: if a.1;", ["4:18 - ERROR mismatched input '1' expecting an identifier"]),
            (
                "allow read: if a is b;",
                [
                    "4:21 - ERROR Unknown type 'b'. Expected one of bool, bytes, duration, float, int, latlng, list, map, number, path, string, timestamp."
                ]
            ),
            (
                "allow read: if a is null;",
                [
                    "4:21 - ERROR Unknown type 'null'. Expected one of bool, bytes, duration, float, int, latlng, list, map, number, path, string, timestamp."
                ]
            ),
            (
                "allow read: if 9223372036854775808 > 0;",
                ["4:16 - ERROR The integer 9223372036854775808 does not fit in 64 bits."]
            ),
            (
                "allow read: if 99999999999999999999 > 0;",
                ["4:16 - ERROR The integer 99999999999999999999 does not fit in 64 bits."]
            ),
            ("allow read: if 1x;", ["4:16 - ERROR Unexpected '1x'."]),
            ("allow read: if 'a\n;", ["4:16 - ERROR The string is not closed. Add '."]),
            (
                "allow read: if 'a\\.b' == 'a';",
                [
                    "4:16 - ERROR Invalid escape sequence \\. in a string. Write \\\\ for a backslash, as in '\\\\.' or '[.]' for a dot in a regular expression."
                ]
            ),
            (
                "allow read: if b'\\xg0' == b'';",
                [
                    "4:16 - ERROR Invalid escape sequence \\x in a bytes literal. Write \\\\ for a backslash, as in '\\\\.' or '[.]' for a dot in a regular expression."
                ]
            ),
            ("allow read: if /a/{b} == /a;", ["4:18 - ERROR Missing a path segment after '/'."]),
            ("allow read: if return;", ["4:16 - ERROR Unexpected 'return'. A keyword cannot be a name."]),
            ("allow read: if 'é' + ;", ["4:22 - ERROR Unexpected ';'."]),
            ("function f( { return 1; }", ["4:13 - ERROR mismatched input '{' expecting an identifier"]),
            ("function f(a a) { return 1; }", ["4:14 - ERROR mismatched input 'a' expecting ')'"]),
            ("function f() { }", ["4:16 - ERROR mismatched input '}' expecting 'return'"]),
            ("function f() { return 1; let a = 2; }", ["4:26 - ERROR mismatched input 'let' expecting '}'"]),
            ("function f() { let a = 2 return 1; }", ["4:26 - ERROR mismatched input 'return' expecting ';'"]),
            ("function duration() { return 1; } allow read: if duration() == 1;", []),
            ("function f(math) { return 1; }", ["4:12 - ERROR The package name 'math' cannot be the name of a variable."]),
            ("let a = 1;", ["4:1 - ERROR Unexpected 'let'."]),
        ] as [(String, [String])]
    )
    func `An error of a statement has its position`(statement: String, errors expected: [String]) {
        let text =
            "rules_version = '2';\nservice cloud.firestore { match /databases/{d}/documents {\nmatch /a/{x} {\n\(statement)}}}"
        #expect(errors(text) == expected)
    }

    @Test
    func `All errors are reported at once`() {
        let text = """
            rules_version = '2';
            service cloud.firestore {
              match /a/{x} {
                allow read: if ;
                allow foo;
                function f() { return ; }
                match b { allow read; }
                allow write: if f(;
                allow write: if {'a': 1;
                allow write: if {'a': [{'b': 1}, 2] 3};
                allow get: if true;
              }
              nonsense;
            }
            """
        #expect(
            errors(text) == [
                "4:20 - ERROR Missing conditional expression after 'if'.",
                "5:11 - ERROR mismatched input 'foo' expecting {'read', 'write', 'get', 'list', 'create', 'update', 'delete'}",
                "6:27 - ERROR Unexpected ';'.",
                "7:11 - ERROR mismatched input 'b' expecting '/'",
                "8:23 - ERROR Unexpected ';'.",
                "9:28 - ERROR mismatched input ';' expecting '}'",
                "10:41 - ERROR mismatched input '3' expecting '}'",
                "13:3 - ERROR Unexpected 'nonsense'.",
            ]
        )
    }

    @Test
    func `A position has offsets in Unicode scalars`() throws {
        let error = try #require(throws: RulesError.self) { try Ruleset("// é😀\nservice x {}") }
        let position = try #require(error.issues.first).position
        #expect(position.line == 2)
        #expect(position.column == 9)
        #expect(position.offset == 14)
        #expect(position.endOffset == 14)
    }

    @Test(
        arguments: [
            "// a\nrules_version='2';/* b\n*/service cloud.firestore{match /databases/{d}/documents{}}",
            "service cloud.firestore { match /databases/{d}/documents { match /a/{b}/{c=**} { allow read } } }",
            "service cloud.firestore { match /databases/(default)/documents { match /a-b.c_d/{x} { allow read, write; } } }",
            "rules_version = \"2\"; service cloud.firestore { match /{ a = ** } { allow read: if true/**/; } }",
            "rules_version = '2'; function f() { return 1; } service cloud.firestore { function g() { return f(); } }",
        ]
    )
    func `A valid file compiles`(text: String) {
        #expect(errors(text).isEmpty)
    }

    @Test(arguments: ["1e999", "1.5e400", "0.1e-400"])
    func `A float literal out of range is an error`(literal: String) {
        #expect(
            errors("service cloud.firestore { match /a/{b} { allow get: if \(literal) > 0; } }")
                == ["1:56 - ERROR The float \(literal) is out of range."]
        )
    }

    @Test(arguments: ["1e308", "4.9e-324", "0.0e-999", "0e999"])
    func `A float literal in range is none`(literal: String) {
        #expect(errors("service cloud.firestore { match /a/{b} { allow get: if \(literal) > 0; } }").isEmpty)
    }

    @Test
    func `A byte order mark at the start is skipped`() {
        #expect(errors("\u{FEFF}service cloud.firestore { }").isEmpty)
        #expect(errors("\u{FEFF}service cloud.firestore {") == ["1:26 - ERROR Unexpected '<EOF>'."])
        #expect(errors("\u{FEFF}\nservice x { }") == ["2:9 - ERROR Unknown service 'x'. Expected 'cloud.firestore'."])
        #expect(errors("\u{FEFF}\u{FEFF}service cloud.firestore { }") == ["1:1 - ERROR Unexpected '\\u{FEFF}'."])
    }
}
