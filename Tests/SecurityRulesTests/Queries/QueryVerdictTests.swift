import DocumentModel
import SecurityRules
import Testing

/// A query, and whether rules allow it.
struct QueryVerdict: Sendable, CustomTestStringConvertible {
    var condition: String
    var query: TestQuery
    var isAllowed: Bool

    init(_ condition: String, _ query: TestQuery, _ isAllowed: Bool) {
        self.condition = condition
        self.query = query
        self.isAllowed = isAllowed
    }

    var testDescription: String {
        "\(condition): \(query.filters + query.alternatives.map { "any " + $0 } + query.orders) \(isAllowed ? "allowed" : "denied")"
    }
}

private func posts(
    _ filters: String...,
    any: [String] = [],
    orders: [String] = [],
    limit: Int? = nil,
    offset: Int = 0
) -> TestQuery {
    var query = TestQuery("posts", any: any, orders: orders, limit: limit, offset: offset)
    query.filters = filters
    return query
}

@Suite("Proofs of queries")
struct QueryVerdictTests {
    private static let owner = "request.auth.uid == resource.data.owner"
    private static let member = "request.auth.uid in resource.data.members"
    private static let long = String(repeating: "x", count: 1_500)
    private static let short = String(repeating: "x", count: 1_499)

    @Test(
        arguments: [
            // Equality.
            QueryVerdict(owner, posts(#"owner == "u1""#), true),
            QueryVerdict(owner, posts(#"owner in ["u1"]"#), true),
            QueryVerdict(owner, posts(#"owner == "u1""#, "x > 5"), true),
            QueryVerdict(owner, posts(any: [#"owner == "u1""#]), true),
            QueryVerdict(owner, posts(), false),
            QueryVerdict(owner, posts(#"owner == "u2""#), false),
            QueryVerdict(owner, posts(#"owner in ["u1","u2"]"#), false),
            QueryVerdict(owner, posts(#"owner >= "u1""#), false),
            QueryVerdict(owner, posts(#"owner >= "u1""#, #"owner <= "u1""#), false),
            QueryVerdict(owner, posts(#"owner array-contains "u1""#), false),
            QueryVerdict(owner, posts(any: [#"owner == "u1""#, "x == 1"]), false),
            QueryVerdict(owner, posts("owner == null"), false),
            QueryVerdict(owner, posts(#"owner != "u1""#), false),
            QueryVerdict("resource.data.owner == null", posts("owner == null"), true),
            QueryVerdict("resource.data.a.b == 'x'", posts(#"a.b == "x""#), true),
            QueryVerdict("resource.data.roles[request.auth.uid] == 'reader'", posts(#"roles.u1 == "reader""#), true),
            QueryVerdict("resource.data.roles[request.auth.uid] == 'reader'", posts(#"roles.u2 == "reader""#), false),
            QueryVerdict("resource.data.a == {'b': 'x'}", posts(#"a == {"b": "x"}"#), true),
            QueryVerdict("resource.data.a.b == 'x'", posts(#"a == {"b": "x"}"#), true),
            QueryVerdict("resource.data.a == {'b': 'x'}", posts(#"a.b == "x""#), false),
            QueryVerdict("resource.data.owner + '!' == 'u1!'", posts(#"owner == "u1""#), true),
            // Numbers: 5 is found as 5.0 too.
            QueryVerdict("resource.data.n == 5", posts("n == 5"), true),
            QueryVerdict("resource.data.n == 5.0", posts("n == 5"), true),
            QueryVerdict("resource.data.n != 6", posts("n == 5"), true),
            QueryVerdict("resource.data.n > 4", posts("n == 5"), true),
            QueryVerdict("resource.data.n is number", posts("n == 5"), true),
            QueryVerdict("resource.data.n is int", posts("n == 5"), false),
            QueryVerdict("resource.data.n is float", posts("n == 5.0"), false),
            QueryVerdict("resource.data.n in [5]", posts("n == 5"), false),
            QueryVerdict("[5].hasAny([resource.data.n])", posts("n == 5"), false),
            QueryVerdict("string(resource.data.n) == '5'", posts("n == 5"), false),
            QueryVerdict("resource.data.n / 2 == 2", posts("n == 5"), false),
            QueryVerdict("resource.data.n + 0 == 5", posts("n == 5"), false),
            QueryVerdict("math.abs(resource.data.n) == 5", posts("n == 5"), false),
            QueryVerdict("[resource.data.n] == [5]", posts("n == 5"), false),
            QueryVerdict("resource.data.a == [5]", posts("a == [5]"), false),
            QueryVerdict("resource.data.a.size() == 1", posts("a == [5]"), false),
            QueryVerdict("resource.data.a is list", posts("a == [5]"), true),
            QueryVerdict("resource.data.a == ['x']", posts(#"a == ["x"]"#), true),
            QueryVerdict("!(resource.data.n is string)", posts("n == 5"), true),
            QueryVerdict("resource.data.n == 9007199254740993", posts("n == 9007199254740993"), true),
            QueryVerdict("resource.data.n == 9007199254740992.0", posts("n == 9007199254740993"), false),
            // Ranges.
            QueryVerdict("resource.data.score > 4", posts("score == 5"), true),
            QueryVerdict("resource.data.score > 4", posts("score > 4"), true),
            QueryVerdict("resource.data.score > 4", posts("score > 5"), true),
            QueryVerdict("resource.data.score > 4", posts("score >= 5"), true),
            QueryVerdict("resource.data.score > 4", posts("score in [5,7]"), true),
            QueryVerdict("resource.data.score > 4", posts(), false),
            QueryVerdict("resource.data.score > 4", posts("score >= 4"), false),
            QueryVerdict("resource.data.score > 4", posts("score in [4,7]"), false),
            QueryVerdict("resource.data.score > 4", posts("score < 5"), false),
            QueryVerdict("resource.data.score > 4", posts(#"score > "5""#), false),
            QueryVerdict("resource.data.score >= 4", posts("score > 4"), true),
            QueryVerdict("4 < resource.data.score", posts("score > 4"), true),
            QueryVerdict("!(resource.data.score <= 4)", posts("score > 4"), true),
            QueryVerdict("resource.data.score != 4", posts("score > 4"), true),
            QueryVerdict("resource.data.score != 4", posts("score >= 4"), false),
            QueryVerdict("resource.data.score != null", posts("score < 4"), true),
            QueryVerdict("resource.data.score is number && !(resource.data.score is string)", posts("score < 4"), true),
            QueryVerdict("resource.data.score is int", posts("score < 4"), false),
            QueryVerdict("resource.data.score <= 10 && resource.data.score > 1", posts("score < 10", "score >= 2"), true),
            QueryVerdict("resource.data.s < 'm'", posts(#"s < "c""#), true),
            QueryVerdict("resource.data.s.size() > 0", posts(#"s > """#), false),
            QueryVerdict("resource.data.t < request.time", posts(#"t < {"$timestamp": "2024-01-01T00:00:00Z"}"#), true),
            QueryVerdict("resource.data.t < request.time", posts(#"t < {"$timestamp": "2025-01-01T00:00:00Z"}"#), false),
            // Inequality.
            QueryVerdict("resource.data.v != null", posts("v != null"), true),
            QueryVerdict("resource.data.v != null", posts(#"v != "x""#), true),
            QueryVerdict("resource.data.v != null", posts(#"v not-in ["x"]"#), true),
            QueryVerdict("resource.data.v != 'blocked'", posts(#"v != "blocked""#), true),
            QueryVerdict("resource.data.v != 'blocked'", posts(#"v not-in ["x","blocked"]"#), true),
            QueryVerdict("!(resource.data.v == 'blocked')", posts(#"v != "blocked""#), true),
            QueryVerdict("resource.data.v != 'blocked'", posts(), false),
            QueryVerdict("resource.data.v != 'blocked'", posts(#"v != "x""#), false),
            QueryVerdict("resource.data.v is string", posts(#"v != "x""#), false),
            QueryVerdict("resource.data.v > 'a'", posts(#"v != "x""#), false),
            QueryVerdict("resource.data.v != 5", posts("v != 5.0"), true),
            // Lists.
            QueryVerdict(member, posts(#"members array-contains "u1""#), true),
            QueryVerdict(member, posts(#"members array-contains-any ["u1"]"#), true),
            QueryVerdict(member, posts(), false),
            QueryVerdict(member, posts(#"members array-contains "u2""#), false),
            QueryVerdict(member, posts(#"members array-contains-any ["u1","u2"]"#), false),
            QueryVerdict(member, posts(#"members == ["u1"]"#), true),
            QueryVerdict("resource.data.members.hasAll([request.auth.uid])", posts(#"members array-contains "u1""#), true),
            QueryVerdict("resource.data.members.hasAny(['u2', 'u1'])", posts(#"members array-contains "u1""#), true),
            QueryVerdict("resource.data.members.hasAny(['u2', 'u1'])", posts(#"members array-contains-any ["u2","u1"]"#), true),
            QueryVerdict("resource.data.members.hasOnly(['u1'])", posts(#"members array-contains "u1""#), false),
            QueryVerdict("resource.data.members.size() > 0", posts(#"members array-contains "u1""#), false),
            QueryVerdict("[request.auth.uid].hasAny(resource.data.members)", posts(#"members array-contains "u1""#), false),
            QueryVerdict("5 in resource.data.a", posts("a array-contains 5"), false),
            QueryVerdict("resource.data.a is list", posts("a array-contains 5"), true),
            // Presence and absence.
            QueryVerdict("'x' in resource.data", posts("x == 1"), true),
            QueryVerdict("'x' in resource.data", posts("x != null"), true),
            QueryVerdict("'x' in resource.data", posts(orders: ["x"]), true),
            QueryVerdict("'y' in resource.data.x", posts("x.y == 1"), true),
            QueryVerdict("'x' in resource.data", posts(), false),
            QueryVerdict("!('x' in resource.data)", posts(), false),
            QueryVerdict("!('x' in resource.data && resource.data.x == 1)", posts(), false),
            QueryVerdict("!resource.data.keys().hasAll(['x'])", posts(), false),
            QueryVerdict("!resource.data.keys().hasAny(['x'])", posts("y == 1"), false),
            QueryVerdict("resource.data.size() == 0", posts(), false),
            QueryVerdict("resource.data.values() == []", posts(), false),
            QueryVerdict("resource.data == {}", posts(), false),
            QueryVerdict("resource.data != null", posts(), true),
            QueryVerdict("resource.data is map", posts(), true),
            QueryVerdict("resource.data.diff({}).addedKeys().size() == 0", posts(), false),
            QueryVerdict("{}.diff(resource.data).removedKeys().size() == 0", posts(), false),
            QueryVerdict("resource.data.get('x', 0) == 0", posts(), false),
            QueryVerdict("resource.data.get('x', 0) == 1", posts("x == 1"), true),
            QueryVerdict("resource.data.get(['x', 'y'], 0) == 1", posts("x.y == 1"), true),
            QueryVerdict("resource.data.x == 1", posts(orders: ["x"]), false),
            QueryVerdict("resource == null", posts(), false),
            QueryVerdict("resource != null", posts(), true),
            // The query itself.
            QueryVerdict("request.query.limit <= 12", posts(limit: 12), true),
            QueryVerdict("request.query.limit <= 12", posts(limit: 13), false),
            QueryVerdict("request.query.limit <= 12", posts(), false),
            QueryVerdict("request.query.offset <= 2", posts(offset: 2), true),
            QueryVerdict("request.query.offset <= 2", posts(), true),
            QueryVerdict("request.query.offset <= 2", posts(offset: 3), false),
            QueryVerdict("request.query.orderBy.at == 'DESC'", posts(orders: ["-at"]), true),
            QueryVerdict("request.query.orderBy.at == 'DESC'", posts(orders: ["at"]), false),
            QueryVerdict("request.query.orderBy.at == 'DESC'", posts(), false),
            QueryVerdict("request.method == 'list'", posts(), true),
            // The path.
            QueryVerdict("id == 'a'", posts(), false),
            QueryVerdict("id != ''", posts(), false),
            QueryVerdict("id is string && database == '(default)'", posts(), true),
            QueryVerdict("resource.id == id", posts(), false),
            QueryVerdict("id == 'a'", posts(#"__name__ == {"$reference": "posts/a"}"#), true),
            QueryVerdict("id == 'a'", posts(#"__name__ in [{"$reference": "posts/a"},{"$reference": "posts/b"}]"#), false),
            QueryVerdict(
                "resource.id in ['a', 'b']",
                posts(#"__name__ in [{"$reference": "posts/a"},{"$reference": "posts/b"}]"#),
                true
            ),
            QueryVerdict("request.path[3] == 'posts'", posts(), true),
            QueryVerdict("request.path[4] == 'x'", posts(), false),
            QueryVerdict("f(id)", posts(), true),
            QueryVerdict("f(resource.data.x)", posts(), false),
            QueryVerdict("true || id == 'a'", posts(), true),
            QueryVerdict("id == 'a' || true", posts(), true),
            QueryVerdict("!(id == 'a' && false)", posts(), true),
            QueryVerdict("id == 'a' || id != 'a'", posts(), false),
            // Long values, of which queries compare the beginning.
            QueryVerdict("resource.data.s == '\(long)'", posts("s == \"\(long)\""), false),
            QueryVerdict("resource.data.s == '\(short)'", posts("s == \"\(short)\""), true),
            QueryVerdict("resource.data.s >= '\(long)'", posts("s >= \"\(long)\""), false),
            QueryVerdict("resource.data.s is string", posts("s >= \"\(long)\""), true),
            QueryVerdict("'\(long)' in resource.data.a", posts("a array-contains \"\(long)\""), false),
            QueryVerdict("resource.data.s != '\(long)'", posts("s != \"\(long)\""), false),
            // Geographic points and vectors.
            QueryVerdict(
                "resource.data.g == latlng.value(1, 2)",
                posts(#"g == {"$geoPoint": {"latitude": 1, "longitude": 2}}"#),
                false
            ),
            QueryVerdict("resource.data.g is latlng", posts(#"g == {"$geoPoint": {"latitude": 1, "longitude": 2}}"#), true),
            QueryVerdict("resource.data.v.value == [1.0]", posts(#"v == {"$vector": [1]}"#), false),
            // A query without results.
            QueryVerdict("resource.data.owner == 'u1'", posts("owner in [null]"), false),
            QueryVerdict("true", posts("owner in [null]"), true),
        ]
    )
    func `A query is allowed if its filters prove the condition`(verdict: QueryVerdict) throws {
        let rules = RulesFixtures.rules(
            "function f(x) { return true; } match /posts/{id} { allow list: if \(verdict.condition); }"
        )
        let decision = try TestDatabase(rules).decision(on: .list(verdict.query), by: .u1)
        #expect(decision.isAllowed == verdict.isAllowed, "\(decision.explanation)")
    }

    @Test(
        arguments: [
            ("/{p=**}/posts/{id}", "group:posts", true), ("/{p=**}/posts/{id}", "posts", true),
            ("/{p=**}/posts/{id}", "users/u/posts", true), ("/posts/{id}", "posts", true), ("/posts/{id}", "group:posts", false),
            ("/posts/{id}", "users/u/posts", false), ("/users/{u}/posts/{id}", "group:posts", false),
            ("/users/{u}/posts/{id}", "users/u/posts", true), ("/{p=**}", "group:posts", true), ("/{p=**}", "posts", true),
            ("/{c}/{id}", "posts", true), ("/{c}/{id}", "group:posts", false), ("/posts/a", "posts", false),
            ("/users/{p=**}", "group:posts", false), ("/users/{p=**}", "group:posts:users/u", true),
            ("/users/u/{p=**}", "group:posts:users/u", true), ("/users/v/{p=**}", "group:posts:users/u", false),
            ("/users/{u}/{p=**}/posts/{id}", "group:posts:users/u", true), ("/{p=**}/comments/{id}", "group:posts", false),
            ("/{p=**}/posts/a", "group:posts", false), ("/users/{u}/posts/{id}", "group:posts:users/u", false),
        ]
    )
    func `A query needs a rule that covers all documents that it may find`(
        pattern: String,
        source: String,
        isAllowed: Bool
    ) throws {
        let database = try TestDatabase(RulesFixtures.rules("match \(pattern) { allow list: if true; }"))
        #expect(try database.allows(.list(TestQuery(source))) == isAllowed)
    }

    @Test
    func `A group query is proved by its filters`() throws {
        let database = try TestDatabase(RulesFixtures.rules("match /{p=**}/posts/{id} { allow list: if \(Self.owner); }"))
        #expect(try database.allows(.list(TestQuery("group:posts", where: #"owner == "u1""#)), by: .u1))
        #expect(try database.allows(.list(TestQuery("users/u/posts", where: #"owner == "u1""#)), by: .u1))
        #expect(try !database.allows(.list(TestQuery("group:posts")), by: .u1))
    }

    @Test
    func `Rules of version 1 never allow group queries`() throws {
        let database = try TestDatabase(RulesFixtures.rules("match /{p=**} { allow read; }", version: "1"))
        #expect(try database.allows(.list(TestQuery("posts"))))
        #expect(try !database.allows(.list(TestQuery("group:posts"))))
    }

    @Test(
        arguments: [
            (TestQuery("posts", where: #"team == "x""#), true), (TestQuery("posts", where: #"team in ["x","y"]"#), true),
            (TestQuery("posts"), false), (TestQuery("posts", where: #"team in ["x","z"]"#), false),
        ]
    )
    func `A query may depend on the documents that its filters name`(query: TestQuery, isAllowed: Bool) throws {
        let database = try TestDatabase(
            RulesFixtures.rules("match /posts/{id} { allow list: if exists(D/teams/$(resource.data.team)); }"),
            ["teams/x": "{}", "teams/y": "{}"]
        )
        #expect(try database.allows(.list(query)) == isAllowed)
    }

    @Test(arguments: [(10, true), (11, false)])
    func `A query may access 10 documents over all of its disjuncts`(count: Int, isAllowed: Bool) throws {
        let names = (0..<count).map { "t\($0)" }
        let database = try TestDatabase(
            RulesFixtures.rules("match /posts/{id} { allow list: if exists(D/teams/$(resource.data.team)); }"),
            Dictionary(uniqueKeysWithValues: names.map { ("teams/" + $0, "{}") })
        )
        let values = names.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try database.allows(.list(TestQuery("posts", where: "team in [\(values)]"))) == isAllowed)
    }

    @Test
    func `A query may depend on a fixed document, and on parts of its collection's path`() throws {
        let database = try TestDatabase(
            RulesFixtures.rules(
                """
                match /rooms/{r}/msgs/{id} { allow list: if get(D/rooms/$(r)).data.open == true; }
                match /posts/{id} { allow list: if exists(D/posts/$(id)) || get(D/config/main).data.open == true; }
                """
            ),
            ["rooms/a": #"{"open": true}"#, "rooms/b": #"{"open": false}"#, "config/main": #"{"open": true}"#]
        )
        #expect(try database.allows(.list(TestQuery("rooms/a/msgs"))))
        #expect(try !database.allows(.list(TestQuery("rooms/b/msgs"))))
        #expect(try !database.allows(.list(TestQuery("rooms/c/msgs"))))
        let decision = try database.decision(on: .list(TestQuery("posts")))
        #expect(decision.isAllowed)
        // Only documents whose path is known are read.
        #expect(decision.accesses.map(\.path.string) == ["config/main"])
    }
}
