import DocumentModel
import SecurityRules
import StrictJSON
import Testing
import UTF8Text

@Suite("Formats and limits of coverage reports")
struct CoverageFormatTests {
    private static let rules = """
        rules_version = '2';
        service cloud.firestore { match /databases/{database}/documents {
          match /notes/{id} {
            // Ä 😀 <b>
            allow get: if "<&>" == id || (id == 'a'
              && request.auth.uid == 'u1');
            allow delete: if id == 'z';
          }
        }}
        """

    private func coverage(_ ids: [String], of rules: Ruleset) throws -> RulesCoverage {
        var coverage = RulesCoverage()
        for id in ids {
            var session = RulesSession(collectsCoverage: true)
            let path = try DocumentPath("notes/" + id)
            let request = RulesRequest(authentication: nil, time: RulesFixtures.time, operation: .get(path, stored: nil))
            _ = rules.decide(request, in: &session, reading: { _ in nil })
            coverage.merge(try #require(session.coverage))
        }
        return coverage
    }

    @Test
    func `The JSON is that of Firestore's emulator`() throws {
        let rules = try Ruleset(Self.rules)
        let json = try JSONText(coverage(["a", "b", "<&>"], of: rules).emulatorJSON(of: rules)).root
        #expect(json["rules"]?["files"]?.elements?.map { $0["content"]?.string } == [Self.rules])
        #expect(json["rules"]?["files"]?.elements?.map { $0["name"]?.string } == ["security.rules"])
        let reports = try #require(json["report"]?.elements.map(Array.init))
        #expect(reports.count == 2)
        #expect(
            reports[0]["sourcePosition"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
                == #"{"line":5,"column":19,"currentOffset":142,"endOffset":201}"#
        )
        #expect(
            reports[0]["values"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
                == #"[{"value":"Null value error.","count":1},{"value":"false","count":1},{"value":"true","count":1}]"#
        )
        let equality = try #require(reports[0]["children"]?.elements.map(Array.init)?.first)
        #expect(
            equality["values"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
                == #"[{"value":"false","count":2},{"value":"true","count":1}]"#
        )
        // The constant has no report.
        #expect(equality["children"]?.count == 1)
        #expect(reports[1]["values"] == nil)
        let offsets = try #require(reports[1]["sourcePosition"])
        guard case .integer(let start)? = offsets["currentOffset"]?.number, case .integer(let end)? = offsets["endOffset"]?.number
        else {
            Issue.record("no offsets")
            return
        }
        let scalars = Array(Self.rules.unicodeScalars)
        #expect(String(String.UnicodeScalarView(scalars[Int(start)...Int(end)])) == "id == 'z'")
    }

    @Test
    func `The page shows each line with its count, and escapes all text`() throws {
        let rules = try Ruleset(Self.rules)
        let page = String(decoding: try coverage(["a", "b", "<&>"], of: rules).html(of: rules), as: UTF8.self)
        let lines = page.split(separator: "\n").map(String.init)
        #expect(lines.contains("<tr><td>4</td><td></td><td>    // Ä 😀 &lt;b&gt;</td></tr>"))
        #expect(
            lines.contains {
                $0.hasPrefix(
                    "<tr><td>5</td><td>3</td><td>    allow get: if <span class=hit title=\"false ×2&#10;true ×1\">&quot;&lt;&amp;&gt;&quot;"
                )
            }
        )
        #expect(
            lines.contains {
                $0.contains(
                    "<td class=missed>0</td><td>    allow delete: if <span class=missed title=\"never evaluated\">id</span>"
                )
            }
        )
        #expect(!page.contains("<script") && !page.contains("http"))
    }

    @Test
    func `The text has a line for each expression`() throws {
        let rules = try Ruleset(Self.rules)
        let lines = try coverage(["a", "b"], of: rules).lines(of: rules)
        #expect(lines.contains("    5:28 id: 'a' ×1, 'b' ×1"))
        #expect(lines.last == "  7:22 id: never evaluated")
        #expect(lines.contains("7:22 id == 'z': never evaluated"))
    }

    @Test
    func `A report of many requests is limited, and counts all of them`() throws {
        let rules = try Ruleset(Self.rules)
        let coverage = try coverage((0..<250).map { "id\($0)" } + ["id0"], of: rules)
        let wildcard = try #require(coverage.reports(of: rules).first?.children.first?.children.first)
        #expect(wildcard.values.count == 101)
        #expect(wildcard.values.first?.text == "'id0'" && wildcard.values.first?.count == 2)
        #expect(wildcard.values.last?.text == "…" && wildcard.values.last?.count == 150)
        #expect(wildcard.count == 251)
        var merged = coverage
        merged.merge(coverage)
        let again = try #require(merged.reports(of: rules).first?.children.first?.children.first)
        #expect(again.values.count == 101)
        #expect(again.count == 502)
    }

    @Test
    func `Long values are shortened`() throws {
        let rules = try Ruleset(RulesFixtures.rules("match /a/{x} { allow get: if resource.data.l == null; }"))
        let elements = Array(repeating: "\"\(String(repeating: "é", count: 100))\"", count: 10).joined(separator: ",")
        let stored = try RulesFixtures.fields("{\"l\": [\(elements)]}")
        var session = RulesSession(collectsCoverage: true)
        let request = RulesRequest(
            authentication: nil,
            time: RulesFixtures.time,
            operation: .get(try DocumentPath("a/b"), stored: stored)
        )
        _ = rules.decide(request, in: &session, reading: { _ in nil })
        let value = try #require(session.coverage?.reports(of: rules).first?.children.first?.values.first)
        #expect(value.text.utf8.count <= 203 && value.text.hasSuffix("…"))
    }

    @Test
    func `Issues have the JSON of Firestore's emulator`() throws {
        let error = try #require(throws: RulesError.self) {
            try Ruleset("service cloud.firestore {\n  match /a { allow read if; } }")
        }
        let json = try JSONText(RulesIssue.emulatorJSON(error.issues)).root
        let issue = try #require(json["issues"]?.elements.map(Array.init)?.first)
        #expect(issue["severity"]?.string == "ERROR")
        #expect(issue["description"]?.string == error.issues.first?.message)
        #expect(issue["sourcePosition"]?["line"]?.number == .integer(2))
    }

    @Test(
        arguments: [
            "f(1, 2)", "id is string", "[1, id]", "{'a': id}", "/a/$(id)", "id.size()", "id[0:1]", "id[0]", "-id", "!id", "(id)",
            "id == 1 ? id : 2", "request.auth.uid", "get(/a/b).data", "math.abs(1)",
        ]
    )
    func `The position of an expression covers all of it`(expression: String) throws {
        let functions = "function f(a, b) { return a; }"
        let rules = try Ruleset(RulesFixtures.rules("\(functions) match /a/{id} { allow get: if \(expression); }"))
        let position = try #require(RulesCoverage().reports(of: rules).last?.position)
        #expect(position.endOffset - position.offset + 1 == expression.unicodeScalars.count)
    }
}
