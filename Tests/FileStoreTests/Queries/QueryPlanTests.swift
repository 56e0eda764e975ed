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

    @Test(arguments: [false, true])
    func `Sums and averages use index entries without reading documents, and the plan tells`(inGroup: Bool) async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 600)
            let numbers = try NormalizedAggregations([
                Aggregation(.count(upTo: nil), alias: "n"), Aggregation(.sum(FieldPath("rank")), alias: "sum"),
                Aggregation(.average(FieldPath("rank")), alias: "average"),
            ])
            let two = try NormalizedAggregations([
                Aggregation(.count(upTo: nil), alias: "n"), Aggregation(.sum(FieldPath("rank")), alias: "sum"),
                Aggregation(.sum(FieldPath("even")), alias: "none"), Aggregation(.average(FieldPath("rank")), alias: "average"),
            ])
            let even = QueryFilter.field(try FieldPath("even"), .equal(.boolean(true)))
            let third = QueryFilter.field(try FieldPath("tags"), .arrayContains(.string("third")))
            let any = QueryFilter.field(try FieldPath("tags"), .arrayContainsAny([.string("third"), .string("all")]))
            let upper = QueryFilter.field(try FieldPath("rank"), .greaterOrEqual(.integer(300)))
            let path = try CollectionPath("c")
            for (filter, count, sum) in [
                (nil, 600, 179_700), (even, 300, 89_700), (third, 200, 59_700), (any, 600, 179_700),
                (.and([even, third]), 100, 29_700), (upper, 300, 134_850), (.and([even, upper]), 150, 67_350),
                (.or([even, third]), 400, 119_700),
            ] as [(QueryFilter?, Int64, Int64)] {
                for aggregations in [numbers, two] {
                    let source = inGroup ? StructuredQuery.Source.collectionGroup(path.id, below: nil) : .collection(path)
                    let query = try NormalizedQuery(StructuredQuery(source, where: filter), aggregating: aggregations.fields)
                    let answer = try await store.aggregate(query, aggregations, readTime: nil)
                    #expect(answer.results["n" as UTF8Key] == .integer(count), "\(answer.metrics)")
                    #expect(answer.results["sum" as UTF8Key] == .integer(sum), "\(answer.metrics)")
                    #expect(answer.results["average" as UTF8Key] == .double(Double(sum) / Double(count)), "\(answer.metrics)")
                    #expect(answer.metrics.documentsRead == 0, "\(answer.metrics)")
                    #expect(answer.metrics.plan.contains { $0.utf8.starts(with: "Aggregate".utf8) }, "\(answer.metrics)")
                }
            }
        }
    }

    @Test(arguments: [(3_000, 100), (3_100, 0)])
    func `A sum reads documents only if their entries are less than a twenty-fifth`(count: Int, readCount: Int) async throws {
        try await fixture.withStore { store in
            try await store.fill("c", count)
            let numbers = try NormalizedAggregations([Aggregation(.sum(FieldPath("rank")), alias: "sum")])
            let rare = QueryFilter.field(try FieldPath("rare"), .greaterOrEqual(.boolean(true)))
            let query = try NormalizedQuery(
                StructuredQuery(.collection(CollectionPath("c")), where: rare),
                aggregating: numbers.fields
            )
            let answer = try await store.aggregate(query, numbers, readTime: nil)
            #expect(answer.results["sum" as UTF8Key] == .integer(Int64((2_900..<count).reduce(0, +))))
            #expect(answer.metrics.documentsRead == readCount, "\(answer.metrics)")
        }
    }

    @Test
    func `A sum over few documents does not read all index entries of the field`() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 2_960)
            let numbers = try NormalizedAggregations([Aggregation(.sum(FieldPath("rank")), alias: "sum")])
            let filter = QueryFilter.and([
                .field(try FieldPath("rare"), .equal(.boolean(true))), .field(try FieldPath("even"), .equal(.boolean(true))),
            ])
            let few = try NormalizedQuery(
                StructuredQuery(.collection(CollectionPath("c")), where: filter),
                aggregating: numbers.fields
            )
            let answer = try await store.aggregate(few, numbers, readTime: nil)
            #expect(answer.results["sum" as UTF8Key] == .integer(30 * (2_900 + 2_958) / 2))
            #expect(answer.metrics.documentsRead == 30, "\(answer.metrics)")
            #expect(answer.metrics.entriesScanned < 2_500, "\(answer.metrics)")
        }
    }

    @Test(
        arguments: [
            "order", "order and equality", "descending", "name", "equality by name", "two equalities", "cursor", "in a group",
            "or",
            "everywhere",
        ]
    )
    func `An offset skips documents in the index without reading them, and the plan tells`(kind: String) async throws {
        try await fixture.withStore { store in
            let collection = try CollectionPath("c")
            try await store.fill("c", 1_000)
            var query = try query(kind, collection, 100)
            query.limit = nil
            let all = try await store.run(NormalizedQuery(query), maximumBytes: 8 << 20, readTime: nil).documents.map(\.path)
            (query.offset, query.limit) = (150, .first(10))
            let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.map(\.path) == Array(all[150..<160]), "\(answer.metrics)")
            #expect(answer.metrics.documentsRead <= 12, "\(answer.metrics)")
            #expect(answer.metrics.plan.contains("Skip 150 documents in the index"), "\(answer.metrics)")
            let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "n")])
            let counted = try await store.aggregate(NormalizedQuery(query), count, readTime: nil)
            #expect(counted.results["n" as UTF8Key] == .integer(10), "\(counted.metrics)")
        }
    }

    @Test
    func `An offset into values that exceed the length of an index key is exact`() async throws {
        try await fixture.withStore { store in
            for index in 0..<40 {
                let prefix = String(repeating: "x", count: 1_600)
                let value = Value.array(
                    index < 20 ? [.integer(Int64(index))] : [.string(prefix), .integer(Int64(index * 7 % 40))]
                )
                try await store.set("c/d\(index)", ["list": value])
            }
            var query = StructuredQuery(.collection(try CollectionPath("c")))
            query.orders = [StructuredQuery.Order(.field(try FieldPath("list")))]
            let all = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil).documents.map(\.path)
            for offset in [5, 19, 20, 21, 33] {
                (query.offset, query.limit) = (offset, .first(4))
                let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
                #expect(answer.documents.map(\.path) == Array(all[offset..<offset + 4]), "\(answer.metrics)")
            }
        }
    }

    @Test
    func `Counts and sums leave out a document that is known to be damaged, and report it`() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 20)
            try await store.waitUntilIndexed()
            try fixture.folder.write("{", to: "data/documents/c/d7.json")
            let path = try DocumentPath("c/d7")
            await expectStatus(.dataLoss) { try await store.document(at: path) }
            try await expectReported(in: store)
            var query = StructuredQuery(.collection(try CollectionPath("c")), offset: 8, limit: .first(3))
            query.orders = [StructuredQuery.Order(.field(try FieldPath("rank")))]
            let page = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            #expect(page.documents.map(\.path.id.key.string) == ["d9", "d10", "d11"])
            #expect(page.damaged.map(\.path) == ["c/d7"])
        }
        // A rebuild of the index finds and records it, also for later starts.
        try fixture.folder.remove("data/index.sqlite")
        for _ in 0..<2 { try await fixture.withStore { store in try await expectReported(in: store) } }
        try fixture.folder.remove("data/documents/c/d7.json")
        try await fixture.withStore { store in
            try await store.set("c/d7", ["rank": .integer(7)])
            let query = try NormalizedQuery(StructuredQuery(.collection(CollectionPath("c"))))
            let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "n")])
            let answer = try await store.aggregate(query, count, readTime: nil)
            #expect(answer.results["n" as UTF8Key] == .integer(20), "\(answer.metrics)")
            #expect(answer.damaged.isEmpty && answer.metrics.documentsRead == 0, "\(answer.metrics)")
        }
        #expect(try await fixture.findings() == [])
    }

    /// Expects that all aggregations leave out and report `c/d7` of 20 documents.
    private func expectReported(in store: FileStore) async throws {
        for operations in [
            [Aggregation.Operation.count(upTo: nil)], [.count(upTo: nil), .sum(try FieldPath("rank"))],
            [.count(upTo: nil), .average(try FieldPath("rank"))],
        ] {
            let aggregations = try NormalizedAggregations(operations.map { Aggregation($0) })
            for source in [
                StructuredQuery.Source.collection(try CollectionPath("c")), .collectionGroup(try CollectionID("c"), below: nil),
                .descendants(of: nil),
            ] {
                let query = try NormalizedQuery(StructuredQuery(source), aggregating: aggregations.fields)
                let answer = try await store.aggregate(query, aggregations, readTime: nil)
                #expect(answer.results["field_1" as UTF8Key] == .integer(19), "\(answer.metrics)")
                if operations.count == 2, case .sum = operations[1] {
                    #expect(answer.results["field_2" as UTF8Key] == .integer(190 - 7), "\(answer.metrics)")
                }
                #expect(answer.damaged.map(\.path) == ["c/d7"], "\(answer.metrics)")
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
    func `A result that exceeds the size limit is rejected, with advice`() async throws {
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
