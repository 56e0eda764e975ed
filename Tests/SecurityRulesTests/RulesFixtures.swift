import DocumentModel
import SecurityRules
import StrictJSON
import Testing
import UTF8Text

/// Rules, documents, users and queries in short notations for tests.
enum RulesFixtures {
    static let now = "2024-05-01T12:00:00.000000Z"
    static let time = try! Timestamp(rfc3339: now)  // Cannot fail: a valid time.

    /// Returns rules whose documents block has the given contents. `D/` stands for the path of the database's documents.
    static func rules(_ body: String, version: String = "2") -> String {
        """
        rules_version = '\(version)';
        service cloud.firestore {
          match /databases/{database}/documents {
            \(body.replacing("D/", with: "/databases/$(database)/documents/"))
          }
        }
        """
    }

    /// Returns fields in JSON. `NOW` stands for the time of the request.
    static func fields(_ json: String) throws -> MapValue {
        try MapValue(json: JSONText(json.replacing("NOW", with: "{\"$timestamp\": \"\(now)\"}")).root)
    }

    static func value(_ json: String) throws -> Value {
        try Value(json: JSONText(json).root)
    }

    static func path(_ text: String) throws -> DocumentPath { try DocumentPath(text) }
}

extension String {
    /// Returns the text with a part replaced everywhere.
    func replacing(_ part: String, with replacement: String) -> String {
        var result = ""
        var rest = self[...]
        while let range = rest.firstRange(of: part) {
            result += rest[..<range.lowerBound] + replacement
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

/// A signed-in user in a test.
struct TestUser: Sendable {
    var uid: String
    var claims = "{}"

    static let u1 = TestUser(uid: "u1")
    static let u2 = TestUser(uid: "u2")

    func authentication() throws -> RulesRequest.Authentication {
        RulesRequest.Authentication(uid: UTF8Key(uid), claims: try JSONText(claims).root)
    }
}

/// A query in a short notation.
struct TestQuery: Sendable {
    /// The path of a collection, or `group:` with a collection ID, optionally with the document that it is below.
    var source: String
    /// The conditions, all of which must hold: `owner == "u1"`, with the operand in JSON.
    var filters: [String] = []
    /// The conditions of which one must hold.
    var alternatives: [String] = []
    /// The orders: `a` for ascending, `-b` for descending.
    var orders: [String] = []
    var limit: Int?
    var offset = 0

    init(
        _ source: String,
        where filters: String...,
        any alternatives: [String] = [],
        orders: [String] = [],
        limit: Int? = nil,
        offset: Int = 0
    ) {
        self.source = source
        self.filters = filters
        self.alternatives = alternatives
        self.orders = orders
        self.limit = limit
        self.offset = offset
    }

    func structured() throws -> StructuredQuery {
        var parts = try filters.map(Self.filter)
        if !alternatives.isEmpty { parts.append(.or(try alternatives.map(Self.filter))) }
        return StructuredQuery(
            try sourceValue(),
            where: parts.isEmpty ? nil : .and(parts),
            orders: try orders.map { text in
                let isDescending = text.hasPrefix("-")
                let field = try FieldPath(isDescending ? String(text.dropFirst()) : text)
                return StructuredQuery.Order(.field(field), isDescending ? .descending : .ascending)
            },
            offset: offset,
            limit: limit.map(StructuredQuery.Limit.first)
        )
    }

    func listQuery() throws -> ListQuery { try ListQuery(structured()) }

    private func sourceValue() throws -> StructuredQuery.Source {
        guard source.hasPrefix("group:") else { return .collection(try CollectionPath(source)) }
        let parts = source.split(separator: ":")
        return .collectionGroup(
            try CollectionID(String(parts[1])),
            below: parts.count > 2 ? try DocumentPath(String(parts[2])) : nil
        )
    }

    private static func filter(_ text: String) throws -> QueryFilter {
        let parts = text.split(separator: " ", maxSplits: 2)
        let (field, name) = (String(parts[0]), String(parts[1]))
        let value = try RulesFixtures.value(String(parts[2]))
        var values: [Value] { if case .array(let elements) = value { elements } else { [] } }
        let condition: Condition =
            switch try #require(Condition.Operator(rawValue: name)) {
            case .equal: .equal(value)
            case .notEqual: .notEqual(value)
            case .less: .less(value)
            case .lessOrEqual: .lessOrEqual(value)
            case .greater: .greater(value)
            case .greaterOrEqual: .greaterOrEqual(value)
            case .in: .in(values)
            case .notIn: .notIn(values)
            case .arrayContains: .arrayContains(value)
            case .arrayContainsAny: .arrayContainsAny(values)
            case .near, .within: .equal(value)
            }
        return .field(field == "__name__" ? .documentName : try FieldPath(field), condition)
    }
}

/// A request in a short notation.
indirect enum TestRequest: Sendable {
    case get(String)
    case list(TestQuery)
    /// Replaces or creates a document.
    case set(String, String)
    /// Replaces some fields of a document.
    case merge(String, String)
    case delete(String)
    /// Several writes at once.
    case commit([TestRequest])
}

/// Documents and rules, with which requests are decided as a server would.
struct TestDatabase {
    let ruleset: Ruleset
    var documents: [DocumentPath: MapValue]

    init(_ rules: String, _ documents: [String: String] = [:]) throws {
        ruleset = try Ruleset(rules)
        self.documents = [:]
        for (path, fields) in documents { self.documents[try DocumentPath(path)] = try RulesFixtures.fields(fields) }
    }

    /// Returns whether the rules allow a request. A commit is allowed if all of its writes are.
    func allows(_ request: TestRequest, by user: TestUser? = nil) throws -> Bool {
        try decisions(on: request, by: user).allSatisfy(\.isAllowed)
    }

    /// Returns the decision on a single operation.
    func decision(on request: TestRequest, by user: TestUser? = nil) throws -> RulesDecision {
        try #require(decisions(on: request, by: user).first)
    }

    func decisions(on request: TestRequest, by user: TestUser?) throws -> [RulesDecision] {
        let requests = if case .commit(let writes) = request { writes } else { [request] }
        var after = documents
        let operations = try requests.map { try operation($0, &after) }
        var session = RulesSession(operationCount: operations.count)
        return try operations.map { operation in
            let request = RulesRequest(
                authentication: try user?.authentication(),
                time: RulesFixtures.time,
                operation: operation
            )
            return ruleset.decide(
                request,
                in: &session,
                reading: { access in
                    access.isAfterCommit ? after[access.path] : documents[access.path]
                }
            )
        }
    }

    private func operation(
        _ request: TestRequest,
        _ after: inout [DocumentPath: MapValue]
    ) throws -> RulesRequest.Operation {
        switch request {
        case .get(let text):
            let path = try DocumentPath(text)
            return .get(path, stored: documents[path])
        case .list(let query):
            return .list(try query.listQuery())
        case .set(let text, let json):
            return try write(text, RulesFixtures.fields(json), &after)
        case .merge(let text, let json):
            var fields = try after[DocumentPath(text)] ?? MapValue()
            for (key, value) in try RulesFixtures.fields(json) { fields[key] = value }
            return try write(text, fields, &after)
        case .delete(let text):
            let path = try DocumentPath(text)
            let stored = after.removeValue(forKey: path)
            return .delete(path, stored: stored)
        case .commit:
            throw TestFailure.nestedCommit
        }
    }

    private func write(
        _ text: String,
        _ fields: MapValue,
        _ after: inout [DocumentPath: MapValue]
    ) throws -> RulesRequest.Operation {
        let path = try DocumentPath(text)
        let stored = after.updateValue(fields, forKey: path)
        return stored.map { .update(path, stored: $0, written: fields) } ?? .create(path, written: fields)
    }

    private enum TestFailure: Error {
        case nestedCommit
    }
}

/// Returns the outcome of an expression as a condition: true, false, or `nil` for an error, with the message.
func outcome(
    of expression: String,
    functions: String = "",
    environment: RulesEnvironment = RulesEnvironment()
) throws -> (value: Bool?, message: String) {
    let ruleset = try Ruleset(RulesFixtures.rules("\(functions) match /a/{id} { allow get: if \(expression); }"))
    let request = RulesRequest(
        authentication: try TestUser.u1.authentication(),
        time: RulesFixtures.time,
        operation: .get(try DocumentPath("a/b"), stored: try RulesFixtures.fields(Document.all))
    )
    var session = RulesSession(environment: environment)
    let decision = ruleset.decide(request, in: &session, reading: { _ in nil })
    if decision.isAllowed { return (true, "") }
    let denial = try #require(decision.denials?.first)
    return denial.error.map { (nil, $0.message) } ?? (false, "")
}

/// The document that expressions in tests see as `resource`.
private enum Document {
    static let all = """
        {"s": "abc", "i": 5, "f": 2.5, "n": null, "b": true, "l": ["a", 1, 2.5], "m": {"k": "v", "x": {"y": 1}},
         "t": {"$timestamp": "2024-02-29T23:59:58.123456Z"}, "g": {"$geoPoint": {"latitude": 52.5, "longitude": 13.4}},
         "r": {"$reference": "users/u1"}, "y": {"$bytes": "aGk="}, "v": {"$vector": [1, 2]}, "e": "e\u{301}"}
        """
}
