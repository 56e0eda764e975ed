import DocumentModel
import SecurityRules
import StrictJSON
import Testing
import UTF8Text

@Suite("Reports of test suites")
struct RulesTestReportTests {
    private static let rules = """
        rules_version = '2';
        service cloud.firestore { match /databases/{database}/documents {
          match /notes/{id} {
            allow get: if resource.data.owner == debug(request.auth.uid);
            allow get: if exists(/databases/$(database)/documents/admins/$(request.auth.uid));
          }
        }}
        """
    private static let suite = #"""
        {"testCases": [
          {"name": "The owner reads", "expectation": "ALLOW",
           "request": {"auth": {"uid": "u1"}, "method": "get", "path": "notes/1"}, "resource": {"data": {"owner": "u1"}}},
          {"expectation": "DENY", "expressionReportLevel": "VISITED",
           "request": {"method": "get", "path": "notes/1"}, "resource": {"data": {"owner": "u1"}}},
          {"name": "Others read", "expectation": "ALLOW", "expressionReportLevel": "FULL",
           "request": {"auth": {"uid": "u2"}, "method": "get", "path": "notes/1"}, "resource": {"data": {}}},
          {"name": "Admins do not read", "expectation": "DENY", "documents": {"admins/u3": {}},
           "request": {"auth": {"uid": "u3"}, "method": "get", "path": "notes/1"}, "resource": {"data": {"owner": "u1"}}},
          {"name": "Nobody\nwrites", "expectation": "ALLOW", "request": {"method": "delete", "path": "notes/1"}}
        ]}
        """#

    private func report() throws -> RulesTestReport {
        try RulesTestSuite(JSONText(Self.suite)).run(on: Ruleset(Self.rules), at: RulesFixtures.time)
    }

    @Test
    func `The text has a line for each case, and the reasons of failures`() throws {
        #expect(
            try report().lines == [
                "1..5",
                "ok 1 - The owner reads (allowed at 4:5)",
                "ok 2 - get notes/1 without a user (denied)",
                "not ok 3 - Others read",
                "# expected ALLOW, but it is denied",
                "# 4:5: Property owner is undefined on object. (4:19)",
                "# 5:5: false",
                "# call: exists(/databases/(default)/documents/admins/u2)",
                "not ok 4 - Admins do not read",
                "# expected DENY, but it is allowed",
                "# 5:5: allows",
                "# call: exists(/databases/(default)/documents/admins/u3)",
                "# debug: 'u3'",
                "not ok 5 - Nobody\\nwrites",
                "# expected ALLOW, but it is denied",
                "# no allow statement matches",
                "# 2 passed, 3 failed",
            ]
        )
    }

    @Test
    func `The JSON has the states, positions and calls`() throws {
        let json = try JSONText(report().json).root
        let results = try #require(json["testResults"]?.elements.map(Array.init))
        #expect(results.map { $0["state"]?.string } == ["SUCCESS", "SUCCESS", "FAILURE", "FAILURE", "FAILURE"])
        #expect(results.map { $0["name"]?.string }[1] == "get notes/1 without a user")
        #expect(results[0]["allowedAt"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == #"[{"line":4,"column":5}]"#)
        #expect(results[2]["errorPosition"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == #"{"line":4,"column":19}"#)
        #expect(
            results[2]["functionCalls"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
                == #"[{"function":"exists","args":["/databases/(default)/documents/admins/u2"]}]"#
        )
        #expect(
            results[2]["debugMessages"]?.elements?.map(\.string) == [
                "Error: line [4], column [19]. Property owner is undefined on object.",
                "evaluation error at L4:19 for 'get' @ L4, false for 'get' @ L5",
            ]
        )
        #expect(results[0]["expressionReports"] == nil)
        #expect(results[1]["expressionReports"]?.count == 2)
        #expect(json["issues"]?.count == 0)
    }

    @Test
    func `Unevaluated expressions are reported at the level FULL alone`() throws {
        let results = try #require(JSONText(report().json).root["testResults"]?.elements.map(Array.init))
        func unevaluated(_ result: JSONNode) throws -> Int {
            func count(_ node: JSONNode) -> Int {
                (node["values"] == nil ? 1 : 0) + (node["children"]?.elements?.reduce(0) { $0 + count($1) } ?? 0)
            }
            return try #require(result["expressionReports"]?.elements).reduce(0) { $0 + count($1) }
        }
        #expect(try unevaluated(results[1]) == 0)
        #expect(try unevaluated(results[2]) > 0)
    }
}
