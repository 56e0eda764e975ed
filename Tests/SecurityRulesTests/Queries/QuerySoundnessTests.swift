import DocumentModel
import SecurityRules
import TestSupport
import Testing
import UTF8Text

/// Compares the proofs of random queries with the decisions on single documents. `HEARTH_TEST_SEED` sets the seed.
@Suite("Random proofs of queries")
struct QuerySoundnessTests {
    private static let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"

    @Test
    func `Every document that an allowed query finds is allowed by itself`() throws {
        var random = RandomProofs(generator: SeededGenerator())
        var allowedCount = 0
        var resultCount = 0
        for _ in 0..<400 {
            random.focus()
            let condition = random.condition(depth: Int.random(in: 0...3, using: &random.generator))
            let ruleset = try Ruleset(RulesFixtures.rules("match /{p=**}/posts/{id} { allow list: if \(condition); }"))
            for _ in 0..<6 {
                guard let query = try? ListQuery(random.query()) else { continue }
                guard decide(ruleset, .list(query)) else { continue }
                allowedCount += 1
                for _ in 0..<25 {
                    let (path, fields) = random.document(for: query.query)
                    guard query.query.source.contains(path), query.query.match(fields, at: path) != nil else { continue }
                    resultCount += 1
                    #expect(
                        decide(ruleset, .listed(path, stored: fields, query)),
                        "\(Self.seed): \(condition) allows \(query.query.filter) but denies \(fields) at \(path)"
                    )
                }
            }
        }
        // The test means something only if there are proofs and results.
        #expect(allowedCount > 40, Self.seed)
        #expect(resultCount > 500, Self.seed)
    }

    private func decide(_ ruleset: Ruleset, _ operation: RulesRequest.Operation) -> Bool {
        var session = RulesSession()
        let request = RulesRequest(
            authentication: RulesRequest.Authentication(uid: "u1", token: RuleMap([])),
            time: RulesFixtures.time,
            operation: operation
        )
        // Every second document exists.
        return ruleset.decide(
            request,
            in: &session,
            reading: { access in access.path.string.utf8.count.isMultiple(of: 2) ? MapValue() : nil }
        ).isAllowed
    }
}

/// Random conditions, queries and documents over few fields and values, so that they meet often.
struct RandomProofs {
    var generator: SeededGenerator

    /// The fields and values that conditions, queries and documents have in common at present.
    private var fields: [String] = []
    private var constants: [(value: Value, text: String)] = []

    init(generator: SeededGenerator) {
        self.generator = generator
    }

    private static let allFields = ["a", "b", "m.x", "m.y"]
    /// Values with their text in rules; several are equal to each other in queries, or almost.
    private static let allConstants: [(value: Value, text: String)] = [
        (.integer(5), "5"), (.double(5), "5.0"), (.integer(4), "4"), (.double(4.5), "4.5"), (.double(.nan), "(0.0 / 0)"),
        (.string("u1"), "'u1'"), (.string("u2"), "'u2'"), (.string(""), "''"), (.null, "null"), (.boolean(true), "true"),
        (.boolean(false), "false"), (.array([.integer(5)]), "[5]"), (.array([.string("u1")]), "['u1']"),
        (.array([.string("u1"), .string("u2")]), "['u1', 'u2']"), (.map(["x": .integer(5)]), "{'x': 5}"),
        (.map(["x": .string("u1")]), "{'x': 'u1'}"), (.timestamp(RulesFixtures.time), "request.time"), (.bytes([104]), "b'h'"),
        (.string(String(repeating: "x", count: 1_500)), "'\(String(repeating: "x", count: 1_500))'"),
        (.string(String(repeating: "x", count: 1_501)), "'\(String(repeating: "x", count: 1_501))'"),
        (.double(-0.0), "-0.0"), (.integer(0), "0"), (.integer(9_007_199_254_740_993), "9007199254740993"),
        (.double(9_007_199_254_740_992), "9007199254740992.0"), (.vector([1]), "{'__type__': '__vector__', 'value': [1.0]}"),
    ]

    private mutating func pick<T>(_ values: [T]) -> T {
        values[Int.random(in: values.indices, using: &generator)]
    }

    private mutating func constant() -> (value: Value, text: String) { pick(constants) }

    /// Chooses other fields and values.
    mutating func focus() {
        fields = (0..<2).map { _ in pick(Self.allFields) }
        constants = (0..<3).map { _ in pick(Self.allConstants) }
        // Neighbors in the list are those that are almost equal.
        let index = Int.random(in: 1..<Self.allConstants.count, using: &generator)
        constants += Self.allConstants[index - 1...index]
    }

    // MARK: Conditions

    mutating func condition(depth: Int) -> String {
        guard depth > 0 else { return atom() }
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: return "(\(condition(depth: depth - 1)) && \(condition(depth: depth - 1)))"
        case 1: return "(\(condition(depth: depth - 1)) || \(condition(depth: depth - 1)))"
        case 2: return "!(\(condition(depth: depth - 1)))"
        case 3: return "(\(condition(depth: depth - 1)) ? \(condition(depth: depth - 1)) : \(condition(depth: depth - 1)))"
        default: return atom()
        }
    }

    private mutating func atom() -> String {
        let field = "resource.data." + pick(fields)
        let other = constant().text
        return switch Int.random(in: 0..<23, using: &generator) {
        case 0, 1, 2: "\(field) \(pick(["==", "!=", "<", "<=", ">", ">="])) \(other)"
        case 3: "\(other) \(pick(["==", "!=", "<", "<=", ">", ">="])) \(field)"
        case 4: "\(other) in \(field)"
        case 5: "\(field) in [\(other), \(constant().text)]"
        case 6: "\(field) is \(pick(["int", "float", "number", "string", "list", "map", "bool", "timestamp", "latlng", "bytes"]))"
        case 7: "\(field).\(pick(["hasAll", "hasAny", "hasOnly"]))([\(other)])"
        case 8: "\(field).size() \(pick(["==", ">", "<"])) \(pick(["0", "1", "2"]))"
        case 9: "'\(pick(["a", "b", "m", "c"]))' in resource.data"
        case 10: "resource.data.get('\(pick(["a", "b", "c"]))', \(other)) == \(constant().text)"
        case 11: "resource.data.keys().\(pick(["hasAll", "hasAny", "hasOnly"]))(['a'])"
        case 12: "id \(pick(["==", "!="])) \(pick(["'d1'", "'d2'", "null"]))"
        case 13: "resource.id in ['d1', 'd2']"
        case 14: "[\(field), \(other)] == [\(constant().text), \(other)]"
        case 15: "\(field) == resource.data.\(pick(fields))"
        case 16: "resource.data.get(['m', 'x'], \(other)) == \(constant().text)"
        case 17: "string(\(field)) == '5'"
        case 18: "\(field) \(pick(["+", "-", "/"])) \(pick(["1", "2.0", "'u'"])) \(pick(["==", ">"])) \(other)"
        case 19: "exists(/databases/$(database)/documents/t/$(\(pick([field, "id"]))))"
        case 20: "{'a': \(field)}.a == \(other)"
        case 21: "(\(field) == \(other) ? \(field) : \(other)) == \(constant().text)"
        default:
            pick([
                "true", "false", "resource == null", "p == /u/1", "request.query.limit < 5", "resource.data == {}", "1 / 0 == 1",
            ])
        }
    }

    // MARK: Queries

    mutating func query() throws -> StructuredQuery {
        var filters: [QueryFilter] = []
        for _ in 0..<Int.random(in: 0...3, using: &generator) { filters.append(try filter()) }
        if generator.chance(20) { filters.append(.or([try filter(), .and([try filter(), try filter()])])) }
        let source: StructuredQuery.Source =
            generator.chance(30)
            ? .collectionGroup(try CollectionID("posts"), below: nil)
            : .collection(try CollectionPath(pick(["posts", "u/1/posts"])))
        return StructuredQuery(
            source,
            where: filters.isEmpty ? nil : .and(filters),
            orders: generator.chance(20) ? [StructuredQuery.Order(.field(try FieldPath(pick(fields))))] : [],
            limit: generator.chance(30) ? .first(3) : nil
        )
    }

    private mutating func filter() throws -> QueryFilter {
        if generator.chance(8) {
            let names = [try DocumentPath("posts/d1"), try DocumentPath("posts/d2")].map(Value.reference)
            return .field(.documentName, generator.chance(50) ? .equal(names[0]) : .in(names))
        }
        let field = try FieldPath(pick(fields))
        let value = constant().value
        let condition: Condition =
            switch Int.random(in: 0..<14, using: &generator) {
            case 0, 1, 2, 3: .equal(value)
            case 4: .notEqual(value)
            case 5: .less(value)
            case 6: .lessOrEqual(value)
            case 7: .greater(value)
            case 8: .greaterOrEqual(value)
            case 9, 10: .in([value, constant().value])
            case 11: .notIn([value, constant().value])
            case 12: .arrayContains(value)
            default: .arrayContainsAny([value, constant().value])
            }
        return .field(field, condition)
    }

    // MARK: Documents

    /// Returns a document that often matches a query.
    mutating func document(for query: NormalizedQuery) -> (path: DocumentPath, fields: MapValue) {
        var fields = MapValue()
        for name in ["a", "b", "m", "c"] where generator.chance(50) { fields[UTF8Key(name)] = value() }
        if generator.chance(50) { fields["m"] = .map(["x": value(), "y": value()]) }
        if !query.filter.disjuncts.isEmpty {
            for predicate in pick(query.filter.disjuncts) where !predicate.field.isDocumentName {
                fields.set(passing(predicate.test), at: predicate.field)
            }
        }
        for field in query.requiredFields where fields[field] == nil { fields.set(value(), at: field) }
        // Cannot fail: literals with valid components.
        let path = try! DocumentPath(pick(["posts/d1", "posts/d2", "posts/d3", "u/1/posts/d1", "u/1/posts/d4"]))
        return (path, fields)
    }

    private mutating func value() -> Value {
        let value = constant().value
        return generator.chance(20) ? .array([value].filter { if case .array = $0 { false } else { true } }) : value
    }

    /// Returns a value that often passes a test, also one that queries take as equal.
    private mutating func passing(_ test: Predicate.Test) -> Value {
        switch test {
        case .equals(let values): variant(of: pick(values.sorted))
        case .contains(let values): .array([variant(of: pick(values.sorted)), constant().value])
        case .range(let range):
            generator.chance(50) ? variant(of: (range.lower ?? range.upper)?.value ?? .null) : value()
        case .differs, .near, .within: value()
        }
    }

    private mutating func variant(of value: Value) -> Value {
        guard generator.chance(50) else { return value }
        return switch value {
        case .integer(let number): .double(Double(number))
        case .double(let number): Int64(exactly: number).map(Value.integer) ?? value
        case .string(let text) where text.utf8.count >= 1_500: .string(text + "y")
        case .array(let elements): .array(elements.map { variant(of: $0) })
        case .map(let map): .map(MapValue(map.map { (key: $0.key, value: variant(of: $0.value)) }))
        default: value
        }
    }
}
