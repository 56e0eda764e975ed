import DocumentModel
import DocumentStore
import FileStore
import TestSupport
import Testing
import UTF8Text

@Suite("Query plans")
struct QueryPlanTests {
    private let fixture: StoreFixture
    private static let sizes = [100, 3_000]

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(
        arguments: [
            "order", "order and equality", "descending", "name", "equality by name", "two equalities", "cursor", "range",
            "nearest first", "in a group", "or", "everywhere", "everywhere with a cursor",
        ]
    )
    func `Queries read a number of entries and documents proportional to the result, not to the collection`(
        kind: String
    ) async throws {
        try await fixture.withStore { store in
            var metrics: [QueryMetrics] = []
            for size in Self.sizes {
                try await store.fill("c\(size)", size)
                let query = try NormalizedQuery(query(kind, try CollectionPath("c\(size)"), size))
                let answer = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
                #expect(answer.documents.count == 10, "\(answer.metrics)")
                #expect(answer.metrics.documentsRead <= 60, "\(answer.metrics)")
                #expect(answer.metrics.entriesScanned <= 400, "\(answer.metrics)")
                metrics.append(answer.metrics)
            }
            #expect(metrics[1].entriesScanned <= 3 * metrics[0].entriesScanned + 50, "\(metrics)")
        }
    }

    private func query(_ kind: String, _ collection: CollectionPath, _ size: Int) throws -> StructuredQuery {
        let rank = StructuredQuery.Order(.field(try FieldPath("rank")))
        let even = QueryFilter.field(try FieldPath("even"), .equal(.boolean(true)))
        let place = try FieldPath("place")
        let center = try GeoPoint(validatingLatitude: 0, longitude: -179.9)
        var query = StructuredQuery(.collection(collection), limit: .first(10))
        switch kind {
        case "order": query.orders = [rank]
        case "order and equality": (query.orders, query.filter) = ([rank], even)
        case "descending": (query.orders, query.filter) = ([StructuredQuery.Order(rank.key, .descending)], even)
        case "name": break
        case "equality by name": query.filter = even
        case "two equalities": query.filter = .and([even, .field(try FieldPath("tags"), .arrayContains(.string("third")))])
        case "cursor":
            query.orders = [rank]
            query.start = StructuredQuery.Cursor([.integer(Int64(size / 2))], isInclusive: false)
        case "range": query.filter = .and([even, .field(try FieldPath("rank"), .greater(.integer(Int64(size / 2))))])
        case "nearest first": query.orders = [StructuredQuery.Order(.distance(of: place, from: center))]
        case "everywhere": query.source = .descendants(of: nil)
        case "everywhere with a cursor":
            query.source = .descendants(of: nil)
            query.start = StructuredQuery.Cursor([.string("\(collection.id.key)/d50")], isInclusive: true)
            query.orders = [StructuredQuery.Order(.field(.documentName))]
        case "in a group": (query.source, query.orders) = (.collectionGroup(collection.id, below: nil), [rank])
        default: query.filter = .or([even, .field(try FieldPath("tags"), .arrayContains(.string("third")))])
        }
        return query
    }

    @Test
    func `Queries switch to a sort when an ordered scan turns out to be more expensive, with the same result`() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 3_000)
            var query = StructuredQuery(.collection(try CollectionPath("c")))
            query.filter = .field(try FieldPath("rare"), .equal(.boolean(true)))
            query.orders = [StructuredQuery.Order(.field(try FieldPath("rank")))]
            query.limit = .first(20)
            let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.map(\.path.id.key.string) == (2_900..<2_920).map { "d\($0)" })
            #expect(answer.metrics.plan.contains { $0.utf8.starts(with: "Switch plan".utf8) }, "\(answer.metrics)")
            #expect(answer.metrics.documentsRead < 130, "\(answer.metrics)")
        }
    }

    @Test
    func `Counts use index entries without reading documents`() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 600)
            let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "n")])
            let even = QueryFilter.field(try FieldPath("even"), .equal(.boolean(true)))
            let third = QueryFilter.field(try FieldPath("tags"), .arrayContains(.string("third")))
            let upper = QueryFilter.field(try FieldPath("rank"), .greaterOrEqual(.integer(300)))
            let name = QueryFilter.field(.documentName, .less(.string("d1")))
            for (filter, expected) in [
                (nil, 600), (even, 300), (third, 200), (.and([even, third]), 100), (upper, 300), (.and([even, upper]), 150),
                (.and([third, upper, even]), 50), (name, 1),
            ] as [(QueryFilter?, Int64)] {
                let query = try NormalizedQuery(StructuredQuery(.collection(try CollectionPath("c")), where: filter))
                let answer = try await store.aggregate(query, count, readTime: nil)
                #expect(answer.results["n" as UTF8Key] == .integer(expected), "\(answer.metrics)")
                #expect(answer.metrics.documentsRead == 0, "\(answer.metrics)")
            }
        }
    }

    @Test
    func `Queries find geo points across the antimeridian and at a pole, in both orders and with other conditions`() async throws
    {
        try await fixture.withStore { store in
            for (id, latitude, longitude) in [
                ("fiji", -17.7, 178.0), ("samoa", -13.8, -171.8), ("tonga", -21.1, -175.2), ("hamburg", 53.5, 10.0),
                ("pole", 90.0, 42.0), ("near pole", 89.9, -120.0),
            ] {
                let point = Value.geoPoint(try GeoPoint(validatingLatitude: latitude, longitude: longitude))
                try await store.set("p/\(id)", ["at": point, "island": .boolean(latitude < 0)])
            }
            let at = try FieldPath("at")
            let fiji = try GeoPoint(validatingLatitude: -17.7, longitude: 178)
            let box = try GeoBox(
                southWest: GeoPoint(validatingLatitude: -30, longitude: 170),
                northEast: GeoPoint(validatingLatitude: 0, longitude: -170)
            )
            let island = QueryFilter.field(try FieldPath("island"), .equal(.boolean(true)))
            let nearest = [StructuredQuery.Order(.distance(of: at, from: fiji))]
            let farthest = [StructuredQuery.Order(.distance(of: at, from: fiji), .descending)]
            let around = QueryFilter.field(at, .near(try GeoCircle(center: fiji, radius: 1_200_000)))
            let top = QueryFilter.field(
                at,
                .near(try GeoCircle(center: GeoPoint(validatingLatitude: 90, longitude: 0), radius: 20_000))
            )
            for (filter, orders, limit, expected) in [
                (.field(at, .within(box)), [], nil, ["fiji", "samoa", "tonga"]),
                (around, nearest, nil, ["fiji", "tonga", "samoa"]),
                (.and([around, island]), nearest, 2, ["fiji", "tonga"]),
                (nil, nearest, 3, ["fiji", "tonga", "samoa"]),
                (nil, nearest, 10, ["fiji", "tonga", "samoa", "near pole", "pole", "hamburg"]),
                (nil, farthest, 2, ["hamburg", "pole"]),
                (island, farthest, 1, ["samoa"]),
                (top, nearest, 5, ["near pole", "pole"]),
            ] as [(QueryFilter?, [StructuredQuery.Order], Int?, [String])] {
                var query = StructuredQuery(.collection(try CollectionPath("p")), where: filter, orders: orders)
                query.limit = limit.map { .first($0) }
                let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
                #expect(answer.documents.map(\.path.id.key.string) == expected, "\(answer.metrics)")
            }
        }
    }

    @Test
    func `Queries refuse a result that exceeds the size limit, with advice`() async throws {
        try await fixture.withStore { store in
            for index in 0..<4 { try await store.set("c/\(index)", ["t": .string(String(repeating: "x", count: 1_000))]) }
            let source = StructuredQuery.Source.collection(try CollectionPath("c"))
            for query in [
                StructuredQuery(source),
                StructuredQuery(source, orders: [StructuredQuery.Order(.field(try FieldPath("t")))], limit: .first(4)),
            ] {
                let error = await expectStatus(.resourceExhausted) {
                    try await store.run(NormalizedQuery(query), maximumBytes: 3_000, readTime: nil)
                }
                #expect(error?.message.contains("limit") == true)
            }
            let two = try NormalizedQuery(StructuredQuery(source, offset: 2))
            #expect(try await store.run(two, maximumBytes: 3_000, readTime: nil).documents.count == 2)
        }
    }

    @Test
    func `Queries end when their task is cancelled`() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 2_000)
            let numbers = try NormalizedAggregations([Aggregation(.sum(FieldPath("rank")))])
            let path = try CollectionPath("c")
            for source in [StructuredQuery.Source.collection(path), .collectionGroup(path.id, below: nil), .descendants(of: nil)]
            {
                let query = try NormalizedQuery(StructuredQuery(source), aggregating: numbers.fields)
                let task = Task { try await store.aggregate(query, numbers, readTime: nil) }
                task.cancel()
                await expectStatus(.cancelled) { try await task.value }
            }
        }
    }

    @Test
    func `Queries report a document whose file is damaged, and return the others`() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 20)
            try await store.waitUntilIndexed()
            try fixture.folder.write("{", to: "data/documents/c/d7.json")
            let query = try NormalizedQuery(StructuredQuery(.collection(try CollectionPath("c"))))
            let answer = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.count == 19)
            #expect(answer.damaged.map(\.path) == ["c/d7"])
            #expect(answer.damaged.first?.file?.path == "documents/c/d7.json")
        }
    }
}

extension FileStore {
    /// Writes documents `d0`, `d1` and so on.
    fileprivate func fill(_ collection: String, _ count: Int) async throws {
        let path = try CollectionPath(collection)
        for start in stride(from: 0, to: count, by: 500) {
            let writes = try (start..<min(start + 500, count)).map { index in
                let longitude = Double(index % 100) * 3.6 - 179.95
                let latitude = Double(index / 100) * 0.9
                let fields: MapValue = [
                    "rank": .integer(Int64(index)), "even": .boolean(index.isMultiple(of: 2)),
                    "tags": .array([.string(index.isMultiple(of: 3) ? "third" : "other"), .string("all")]),
                    "rare": .boolean(index >= 2_900),
                    "place": .geoPoint(try GeoPoint(validatingLatitude: latitude, longitude: longitude)),
                ]
                return Write(path: path.document(try DocumentPath.ID("d\(index)")), operation: .replace(fields))
            }
            _ = try await commit(writes)
        }
    }
}
