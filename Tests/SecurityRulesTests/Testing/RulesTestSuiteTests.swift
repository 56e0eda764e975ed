import DocumentModel
import SecurityRules
import StrictJSON
import Testing

/// Rules and one case, in short notations.
private struct SuiteCase {
    var rules: String
    /// The members of `request` beside those of the path and the method.
    var request = ""
    var method = "get"
    var path = "/databases/(default)/documents/notes/1"
    /// The members of the case beside the request and the expectation.
    var members = ""
    var expectation = "ALLOW"

    var json: String {
        """
        {"testCases": [{"expectation": "\(expectation)"\(members.isEmpty ? "" : ", ")\(members),
          "request": {"method": "\(method)", "path": "\(path)"\(request.isEmpty ? "" : ", ")\(request)}}]}
        """
    }

    func report() throws -> RulesTestReport {
        let ruleset = try Ruleset(RulesFixtures.rules(rules))
        return try RulesTestSuite(JSONText(json)).run(on: ruleset, at: RulesFixtures.time)
    }

    func isAllowed() throws -> Bool { try #require(report().results.first).isAllowed }
}

private func notes(_ condition: String, _ method: String = "read, write") -> String {
    "match /notes/{id} { allow \(method): if \(condition); }"
}

@Suite("Test suites of rules")
struct RulesTestSuiteTests {
    @Test(
        arguments: [
            ("request.auth == null", "", true),
            ("request.auth == null", #""auth": null"#, true),
            ("request.auth.uid == 'u1' && request.auth.token.size() == 0", #""auth": {"uid": "u1"}"#, true),
            ("request.auth.token.admin", #""auth": {"uid": "u1", "token": {"admin": true}}"#, true),
            ("request.auth.token.firebase.sign_in_provider == 'x'", #""auth": {"uid": "u1", "token": {}}"#, false),
            ("request.time == timestamp.date(2024, 5, 1) + duration.value(12, 'h')", "", true),
            ("request.time == timestamp.date(2020, 2, 29)", #""time": "2020-02-29T00:00:00Z""#, true),
            ("request.path == /databases/(default)/documents/notes/1", "", true),
            ("request.method == 'get'", "", true),
            ("id == '1' && resource == null", "", true),
        ]
    )
    func `A request has a user, a time and a path`(condition: String, request: String, isAllowed: Bool) throws {
        #expect(try SuiteCase(rules: notes(condition), request: request).isAllowed() == isAllowed)
    }

    @Test(
        arguments: [
            ("resource.data.n is int && resource.data.n == 1", #"{"data": {"n": 1}}"#),
            ("resource.data.n is float", #"{"data": {"n": 1.0}}"#),
            ("resource.data.n is timestamp", #"{"data": {"n": {"$timestamp": "2024-05-01T12:00:00Z"}}}"#),
            (
                "resource.data.n == latlng.value(52.5, 13.4)",
                #"{"data": {"n": {"$geoPoint": {"latitude": 52.5, "longitude": 13.4}}}}"#
            ),
            ("resource.data.n == /databases/(default)/documents/a/b", #"{"data": {"n": {"$reference": "a/b"}}}"#),
            ("resource.data.n == b'hi'", #"{"data": {"n": {"$bytes": "aGk="}}}"#),
            ("resource.data.n.a[1] == null", #"{"data": {"n": {"a": [true, null]}}}"#),
            (
                "resource.id == '1' && resource.data.size() == 0",
                #"{"id": "1", "__name__": "/databases/(default)/documents/notes/1"}"#
            ),
        ]
    )
    func `The stored document has JSON and tagged values`(condition: String, resource: String) throws {
        #expect(try SuiteCase(rules: notes(condition), members: "\"resource\": \(resource)").isAllowed())
    }

    @Test(
        arguments: [
            ("create", #""resource": {"data": {"n": 2}}"#, ""),
            ("update", #""resource": {"data": {"n": 2}}"#, #""resource": {"data": {"n": 1}}"#),
            ("update", #""resource": {"data": {"n": 2}}"#, #""documents": {"notes/1": {"n": 1}}"#),
        ]
    )
    func `A write has the document as it would be stored`(method: String, request: String, members: String) throws {
        let condition = "request.resource.data.n == 2 && (resource == null || resource.data.n == 1)"
        #expect(try SuiteCase(rules: notes(condition, method), request: request, method: method, members: members).isAllowed())
    }

    @Test(
        arguments: [
            ("PLAIN", "/databases/(default)/documents/notes/a%20b", "a%20b"),
            ("URL_ENCODED", "/databases/(default)/documents/notes/a%20b", "a b"),
            ("URL_ENCODED", "/databases/%28default%29/documents/notes/%C3%A9", "é"),
        ]
    )
    func `A path may be percent-encoded`(encoding: String, path: String, id: String) throws {
        let members = "\"pathEncoding\": \"\(encoding)\""
        #expect(try SuiteCase(rules: notes("id == '\(id)'"), path: path, members: members).isAllowed())
    }

    @Test
    func `A path may name another database`() throws {
        let rules = "match /notes/{id} { allow get: if database == 'x' && exists(/databases/x/documents/a/b); }"
        let members = #""documents": {"a/b": {}}"#
        #expect(try SuiteCase(rules: rules, path: "/databases/x/documents/notes/1", members: members).isAllowed())
    }

    @Test(
        arguments: [
            (
                "get(D/a/b).data.n == 1", "get", #"{"exactValue": "/databases/(default)/documents/a/b"}"#,
                #"{"value": {"data": {"n": 1}}}"#, true
            ),
            (
                "get(D/a/b).data.n == 1", "get", #"{"exactValue": "/databases/(default)/documents/a/c"}"#,
                #"{"value": {"data": {"n": 1}}}"#, false
            ),
            ("get(D/a/b).data.n == 1", "get", #"{"anyValue": {}}"#, #"{"value": {"data": {"n": 1}}}"#, true),
            ("get(D/a/b) != null", "get", #"{"anyValue": {}}"#, #"{"undefined": {}}"#, false),
            ("exists(D/a/b)", "exists", #"{"anyValue": {}}"#, #"{"value": true}"#, true),
            ("exists(D/a/b)", "get", #"{"anyValue": {}}"#, #"{"value": {"data": {}}}"#, false),
            ("existsAfter(D/a/b)", "existsAfter", #"{"anyValue": {}}"#, #"{"value": true}"#, true),
            (
                "get(D/a/b).data.t < request.time", "get", #"{"anyValue": {}}"#,
                #"{"value": {"data": {"t": {"$timestamp": "2020-01-01T00:00:00Z"}}}}"#, true
            ),
        ]
    )
    func `A mock has the result of a function`(
        condition: String,
        function: String,
        argument: String,
        result: String,
        isAllowed: Bool
    ) throws {
        let mock = "{\"function\": \"\(function)\", \"args\": [\(argument)], \"result\": \(result)}"
        #expect(try SuiteCase(rules: notes(condition), members: "\"functionMocks\": [\(mock)]").isAllowed() == isAllowed)
    }

    @Test(
        arguments: [
            (#""query": {"where": {"field": "owner", "op": "==", "value": "u1"}}"#, "notes", true),
            (#""query": {"where": {"field": "owner", "op": "==", "value": "u2"}}"#, "notes", false),
            (
                #""query": {"where": {"and": [{"field": "owner", "op": "in", "value": ["u1"]}, {"field": "n", "op": ">", "value": 1}]}}"#,
                "notes", true
            ),
            (
                #""query": {"where": {"or": [{"field": "owner", "op": "==", "value": "u1"}, {"field": "n", "op": "==", "value": 1}]}}"#,
                "notes", false
            ),
            ("\"query\": {}", "notes", false),
            (
                #""query": {"collectionGroup": "notes", "where": {"field": "owner", "op": "==", "value": "u1"}}"#,
                "/databases/(default)/documents", true
            ),
            (#""query": {"collectionGroup": "notes", "where": {"field": "owner", "op": "==", "value": "u1"}}"#, "a/b", true),
            (#""query": {"allDescendants": true, "where": {"field": "owner", "op": "==", "value": "u1"}}"#, "a/b", false),
        ]
    )
    func `A list of a collection decides a query for all of its results`(query: String, path: String, isAllowed: Bool) throws {
        let rules = "match /{p=**}/notes/{id} { allow list: if resource.data.owner == 'u1'; }"
        #expect(try SuiteCase(rules: rules, request: query, method: "list", path: path).isAllowed() == isAllowed)
    }

    @Test(
        arguments: [
            ("request.query.limit <= 10", #"{"limit": 10}"#, true), ("request.query.limit <= 10", #"{"limit": 11}"#, false),
            ("request.query.offset == 0", "{}", true), ("request.query.offset == 3", #"{"offset": 3, "limit": 1}"#, true),
            ("request.query.orderBy.at == 'DESC'", #"{"orderBy": {"at": "DESC"}}"#, true),
            ("request.query.orderBy.at == 'DESC'", #"{"orderBy": [{"field": "at", "direction": "desc"}]}"#, true),
            ("request.query.orderBy.at == 'ASC'", #"{"orderBy": [{"field": "at"}], "startAfter": {"values": [1]}}"#, true),
        ]
    )
    func `A list has the members of a query`(condition: String, query: String, isAllowed: Bool) throws {
        let test = SuiteCase(rules: notes(condition, "list"), request: "\"query\": \(query)", method: "list", path: "notes")
        #expect(try test.isAllowed() == isAllowed)
    }

    @Test
    func `A list of a document decides about it as a result`() throws {
        let members = #""resource": {"data": {"n": 1}}"#
        let test = SuiteCase(rules: notes("resource.data.n == 1 && id == '1'", "list"), method: "list", members: members)
        #expect(try test.isAllowed())
    }

    @Test(
        arguments: [
            (#"[{"method": "set", "path": "a/1", "data": {"n": 1}}, {"method": "set", "path": "b/1", "data": {"n": 1}}]"#, true),
            (#"[{"method": "set", "path": "a/1", "data": {"n": 1}}]"#, false),
            (#"[{"method": "set", "path": "a/1", "data": {"n": 1}}, {"method": "delete", "path": "b/1"}]"#, false),
            (#"[{"method": "set", "path": "a/1", "data": {"n": 1}}, {"method": "create", "path": "c/1", "data": {}}]"#, false),
        ]
    )
    func `All writes of a commit must be allowed, and see each other afterwards`(writes: String, isAllowed: Bool) throws {
        let rules = try Ruleset(
            RulesFixtures.rules("match /a/{x} { allow write: if getAfter(D/b/1).data.n == 1; } match /b/{x} { allow write; }")
        )
        let suite = try RulesTestSuite(
            JSONText(
                #"{"documents": {"b/1": {"n": 0}}, "testCases": [{"expectation": "ALLOW", "request": {"writes": \#(writes)}}]}"#
            )
        )
        #expect(suite.run(on: rules, at: RulesFixtures.time).results.map(\.isAllowed) == [isAllowed])
    }
}

@Suite("Invalid test suites of rules")
struct InvalidRulesTestSuiteTests {
    private static let request = #""request": {"method": "get", "path": "notes/1"}"#

    @Test(
        arguments: [
            ("[]", nil, "Expected an object, found an array."),
            ("{}", nil, "Expected a member \"testCases\"."),
            (#"{"testCases": {}}"#, "testCases", "Expected an array, found an object."),
            (#"{"testCases": [], "tests": 1}"#, "tests", "Unknown member. Expected one of testCases, documents."),
            (#"{"testCases": [{"expectation": "ALLOW"}]}"#, "testCases[0]", "Expected a member \"request\"."),
            (
                #"{"testCases": [{"expectation": "MAYBE", \#(request)}]}"#, "testCases[0].expectation",
                "Expected one of ALLOW, DENY, found the string \"MAYBE\"."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "read", "path": "notes/1"}}]}"#,
                "testCases[0].request.method",
                "Expected one of get, list, create, update, delete, found the string \"read\"."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "get", "path": "/notes/1"}}]}"#,
                "testCases[0].request.path",
                "Expected a path such as /databases/(default)/documents/users/alice, or users/alice; found \"/notes/1\"."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "get", "path": "notes/1", "auth": {}}}]}"#,
                "testCases[0].request.auth", "Expected a member \"uid\"."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "get", "path": "notes/1", "time": 5}}]}"#,
                "testCases[0].request.time", "Expected a time in RFC 3339 format, found a number."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", \#(request), "resource": {"data": {"a": [{"$time": 1}]}}}]}"#,
                "testCases[0].resource.data.a[0]", nil
            ),
            (
                #"{"testCases": [{"expectation": "DENY", \#(request), "resource": {"data": {}, "id": "2"}}]}"#,
                "testCases[0].resource.id", "Expected \"1\", the ID in the path, found the string \"2\"."
            ),
            (
                #"{"documents": {"notes": {}}, "testCases": []}"#, "documents.notes", nil
            ),
            (
                #"{"documents": {"notes/1": 5}, "testCases": []}"#, "documents[\"notes/1\"]", nil
            ),
            (
                #"{"testCases": [{"expectation": "DENY", \#(request), "functionMocks": [{"function": "debug", "args": [], "result": {}}]}]}"#,
                "testCases[0].functionMocks[0].function",
                "Expected one of get, exists, getAfter, existsAfter, found the string \"debug\"."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", \#(request), "functionMocks": [{"function": "get", "args": [], "result": {}}]}]}"#,
                "testCases[0].functionMocks[0].args", "Expected one argument, the path of a document; found 0."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "list", "path": "notes", "query": {"where": {"field": "a", "op": "=", "value": 1}}}}]}"#,
                "testCases[0].request.query.where.op", nil
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "list", "path": "notes", "query": {"limit": -1}}}]}"#,
                "testCases[0].request.query.limit", "Expected an integer of at least 0, found a number."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "list", "path": "notes", "query": {"limitToLast": 1}}}]}"#,
                "testCases[0].request.query.limitToLast", nil
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"method": "list", "path": "notes/1"}}]}"#,
                "testCases[0]",
                "Expected the path of a collection, or a document at the path, in resource or documents."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"writes": []}}]}"#,
                "testCases[0].request.writes", "Expected at least one write."
            ),
            (
                #"{"testCases": [{"expectation": "DENY", "request": {"writes": [{"method": "update", "path": "a/1", "data": {}}]}}]}"#,
                "testCases[0].request.writes[0]", "Expected a document at the path. Use the method create or set."
            ),
            (
                #"{"documents": {"/databases/x/documents/a/1": {}, "/databases/y/documents/a/1": {}}, "testCases": []}"#,
                "documents[\"/databases/y/documents/a/1\"]", "Expected a path in one database with the others, x."
            ),
        ] as [(String, String?, String?)]
    )
    func `An error names the JSON path of the value`(json: String, path: String?, message: String?) throws {
        let error = try #require(throws: StatusError.self) { try RulesTestSuite(JSONText(json)) }
        #expect(error.code == .invalidArgument)
        #expect(error.parameterPath == path)
        if let message { #expect(error.message.hasPrefix(message + " (Line 1, column ")) }
    }
}
