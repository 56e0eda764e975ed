import DocumentModel
import SyncEngine
import TestSupport
import UTF8Text

/// A query of the random model.
struct ModelQuery: Sendable {
    let view: ViewQuery
    private let query: StructuredQuery?

    init(_ query: StructuredQuery) throws {
        view = try ViewQuery(query)
        self.query = query
    }

    init(document path: DocumentPath) throws {
        view = try ViewQuery(document: path)
        query = nil
    }

    /// Returns the documents that a listener shows in the end.
    func result(on server: SerialServer) throws -> [Document] {
        if let query { try server.result(of: .query(query)) } else { try server.result(of: view.target) }
    }
}

/// The steps of the random model.
enum RandomModel {
    /// A document that is only ever incremented, and never rejected.
    static let counterPath = DocumentPath.inC("counter")

    private static let ids = ["a", "b", "c", "d", "e", "f"]

    /// Returns queries of the collection, with filters, orders, limits and offsets.
    static func queries(_ random: inout SeededGenerator) throws -> [ModelQuery] {
        try (0..<3).map { _ in try query(&random) }
    }

    private static func query(_ random: inout SeededGenerator) throws -> ModelQuery {
        if random.chance(10) { return try ModelQuery(document: .inC(ids.randomElement(using: &random) ?? "a")) }
        var query = StructuredQuery(.collection(try CollectionPath("c")))
        let field = try FieldPath("v")
        if random.chance(50) {
            query.filter = .field(field, random.chance(50) ? .greaterOrEqual(.integer(3)) : .notEqual(.integer(2)))
        }
        if random.chance(60) {
            query.orders = [StructuredQuery.Order(.field(field), random.chance(50) ? .ascending : .descending)]
        }
        if random.chance(60) {
            let count = Int.random(in: 1...3, using: &random)
            query.limit = random.chance(30) && !query.orders.isEmpty ? .last(count) : .first(count)
            if random.chance(30) { query.offset = 1 }
        }
        return try ModelQuery(query)
    }

    /// Makes a random step, and returns the number of increments of the counter.
    static func step<Cache>(
        _ step: Int,
        _ client: inout ModelClient<Cache>,
        _ server: inout SerialServer,
        _ random: inout SeededGenerator
    ) throws -> Int64 {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<10:
            try client.write([increment(counterPath)], at: Timestamp(microseconds: Int64(step) * 1_000))
            return 1
        case 10..<35:
            let writes = try (0..<Int.random(in: 1...2, using: &random)).map { _ in try write(&random) }
            try client.write(writes, at: Timestamp(microseconds: Int64(step) * 1_000))
        case 35..<55: try client.send(to: &server, isAnswerLost: random.chance(20), &random)
        case 55..<80: try client.deliver(from: server, &random)
        case 80..<85: try client.answerReads(from: server)
        case 85..<88: client.breakStreams()
        case 88..<91: try client.setNetwork(enabled: !client.isEnabled)
        case 91..<93: try client.restart()
        case 93..<95: try client.listen(to: query(&random))
        case 95..<97: client.unlisten(&random)
        case 97: if random.chance(50) { client.fireTimer() } else { try client.changeUser() }
        case 98: try client.reset(&random)
        default: try client.evict()
        }
        return 0
    }

    private static func increment(_ path: DocumentPath) throws -> Write {
        let transform = FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(1)))
        return try .set(path, [:], merge: .all, transforms: [transform])
    }

    private static func write(_ random: inout SeededGenerator) throws -> Write {
        let path = DocumentPath.inC(ids.randomElement(using: &random) ?? "a")
        let value = Value.integer(Int64.random(in: 0..<6, using: &random))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return .delete(path)
        case 1: return try .update(path, [(FieldPath("v"), value)])
        case 2: return try .update(path, [(FieldPath("m.x"), value)], delete: [FieldPath("m.y")])
        case 3: return try .set(path, ["w": value], merge: .all)
        case 4: return try increment(path)
        case 5:
            let transform = FieldTransform(field: try FieldPath("v"), operation: .serverTimestamp)
            return try .set(path, [:], merge: .all, transforms: [transform])
        case 6:
            let transform = FieldTransform(field: try FieldPath("l"), operation: .arrayUnion([value]))
            return try .update(path, [], transforms: [transform])
        default: return try .set(path, ["v": value])
        }
    }
}
