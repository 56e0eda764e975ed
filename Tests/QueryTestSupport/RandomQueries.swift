package import DocumentModel
package import TestSupport
import UTF8Text

/// Generates queries over the documents of ``RandomDocuments``.
package struct RandomQueries {
    private var random: RandomDocuments

    package init(generator: SeededGenerator) {
        random = RandomDocuments(generator: generator)
    }

    /// Returns a valid query.
    package mutating func query() -> StructuredQuery {
        while true {
            let query = candidate()
            if (try? NormalizedQuery(query)) != nil { return query }
        }
    }

    /// Returns valid aggregations.
    package mutating func aggregations() -> [Aggregation] {
        (0..<Int.random(in: 1...3, using: &random.generator)).map { _ in
            switch Int.random(in: 0..<5, using: &random.generator) {
            case 0: Aggregation(.count(upTo: nil))
            case 1: Aggregation(.count(upTo: Int.random(in: 1...20, using: &random.generator)))
            case 2, 3: Aggregation(.sum(numberField()))
            default: Aggregation(.average(numberField()))
            }
        }
    }

    private mutating func numberField() -> FieldPath {
        chance(70) ? RandomDocuments.fields[2] : field()
    }

    /// Returns a query that may violate rules about the combination of its parts.
    private mutating func candidate() -> StructuredQuery {
        var query = StructuredQuery(source())
        if chance(85) { query.filter = filter(depth: 2, of: query.source) }
        if chance(60) { query.orders = (0..<Int.random(in: 1...2, using: &random.generator)).map { _ in order() } }
        if chance(25) { query.start = cursor(in: query) }
        if chance(25) { query.end = cursor(in: query) }
        if chance(15) { query.offset = Int.random(in: 0...5, using: &random.generator) }
        if chance(40) {
            let count = Int.random(in: 0...12, using: &random.generator)
            query.limit = chance(70) ? .first(count) : .last(count)
        }
        if chance(20) { query.projection = (0...Int.random(in: 0...2, using: &random.generator)).map { _ in anyField() } }
        if chance(10) { query.vectorSearch = vectorSearch() }
        return query
    }

    private mutating func source() -> StructuredQuery.Source {
        let parent = chance(30) ? random.pick(["c/1", "c/2", "d/__id7__"]) : nil
        let document = parent.flatMap { try? DocumentPath($0) }
        switch Int.random(in: 0..<10, using: &random.generator) {
        case 0..<6: return .collection(random.pick(RandomDocuments.collections))
        case 6..<9: return .collectionGroup(random.pick(RandomDocuments.collections).id, below: document)
        default: return .descendants(of: document)
        }
    }

    private mutating func filter(depth: Int, of source: StructuredQuery.Source) -> QueryFilter {
        guard depth > 0, chance(45) else { return fieldFilter(of: source) }
        let filters = (0..<Int.random(in: 1...3, using: &random.generator)).map { _ in filter(depth: depth - 1, of: source) }
        return chance(60) ? .and(filters) : .or(filters)
    }

    private mutating func fieldFilter(of source: StructuredQuery.Source) -> QueryFilter {
        if chance(12) { return .field(.documentName, nameCondition(of: source)) }
        if chance(15) { return .field(chance(90) ? RandomDocuments.location : field(), geoCondition()) }
        return .field(field(), condition())
    }

    private mutating func condition() -> Condition {
        switch Int.random(in: 0..<10, using: &random.generator) {
        case 0, 1: .equal(random.value())
        case 2: .notEqual(random.value())
        case 3: .less(random.value())
        case 4: .lessOrEqual(random.value())
        case 5: .greater(random.value())
        case 6: .greaterOrEqual(random.value())
        case 7: chance(70) ? .in(values()) : .notIn(values())
        case 8: .arrayContains(random.element())
        default: .arrayContainsAny((0...Int.random(in: 0...3, using: &random.generator)).map { _ in random.element() })
        }
    }

    private mutating func nameCondition(of source: StructuredQuery.Source) -> Condition {
        switch Int.random(in: 0..<8, using: &random.generator) {
        case 0: .equal(name(of: source))
        case 1: .notEqual(name(of: source))
        case 2: .less(name(of: source))
        case 3: .lessOrEqual(name(of: source))
        case 4: .greater(name(of: source))
        case 5: .greaterOrEqual(name(of: source))
        case 6: .in([name(of: source), name(of: source), name(of: source)])
        default: .notIn([name(of: source), name(of: source)])
        }
    }

    private mutating func geoCondition() -> Condition {
        let radius = Double.random(in: 0...2, using: &random.generator) * random.pick([1e3, 1e5, 1e7])
        if chance(50), let circle = try? GeoCircle(center: random.point(), radius: radius) { return .near(circle) }
        guard let box = try? GeoBox(southWest: random.point(), northEast: random.point()) else { return geoCondition() }
        return .within(box)
    }

    private mutating func name(of source: StructuredQuery.Source) -> Value {
        let path = random.path()
        if case .collection = source, chance(50) { return .string(path.id.key.string) }
        return .reference(path)
    }

    private mutating func values() -> [Value] {
        (0...Int.random(in: 0...4, using: &random.generator)).map { _ in random.value() }
    }

    private mutating func order() -> StructuredQuery.Order {
        let direction: StructuredQuery.Order.Direction = chance(50) ? .ascending : .descending
        if chance(12) { return StructuredQuery.Order(.distance(of: RandomDocuments.location, from: random.point()), direction) }
        return StructuredQuery.Order(.field(anyField()), direction)
    }

    private mutating func cursor(in query: StructuredQuery) -> StructuredQuery.Cursor? {
        guard let count = (try? NormalizedQuery(query))?.orders.count else { return nil }
        let orders = query.oracleOrders(aggregating: [])
        let values = orders.prefix(Int.random(in: 1...count, using: &random.generator)).map { order -> Value in
            switch order.key {
            case .distance: .double(Double.random(in: 0...2e7, using: &random.generator))
            case .field(let field) where field.isOracleName: name(of: query.source)
            case .field: random.value()
            }
        }
        return StructuredQuery.Cursor(values, isInclusive: chance(50))
    }

    private mutating func vectorSearch() -> VectorSearch {
        VectorSearch(
            field: RandomDocuments.vector,
            vector: random.vector(),
            measure: random.pick(VectorSearch.Measure.allCases),
            limit: Int.random(in: 1...15, using: &random.generator),
            distanceField: chance(50) ? field() : nil,
            threshold: chance(30) ? Double.random(in: 0...3, using: &random.generator) : nil
        )
    }

    private mutating func anyField() -> FieldPath {
        chance(15) ? .documentName : field()
    }

    private mutating func field() -> FieldPath {
        random.pick(RandomDocuments.fields)
    }

    private mutating func chance(_ percent: Int) -> Bool {
        random.generator.chance(percent)
    }
}
