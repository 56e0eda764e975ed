import DocumentModel
import DocumentStore
import StrictJSON
import TestSupport
import Testing

/// How much queries look at.
@Suite("Plans of queries")
struct QueryPlanTests {
    private let fixture: StoreFixture
    private static let sizes = [100, 3_000]

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(
        "cost what the result has, not what the collection has",
        arguments: [
            "order", "order and equality", "descending", "name", "equality by name", "two equalities", "cursor", "range",
            "nearest first", "in a group", "or", "everywhere", "everywhere with a cursor",
        ]
    )
    func bounded(kind: String) async throws {
        try await fixture.withStore { store in
            var work: [QueryWork] = []
            for size in Self.sizes {
                try await store.fill("c\(size)", size)
                let query = try NormalizedQuery(query(kind, try CollectionPath("c\(size)"), size))
                let answer = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
                #expect(answer.documents.count == 10, "\(answer.work)")
                #expect(answer.work.documentsRead <= 60, "\(answer.work)")
                #expect(answer.work.entriesScanned <= 400, "\(answer.work)")
                work.append(answer.work)
            }
            #expect(work[1].entriesScanned <= 3 * work[0].entriesScanned + 50, "\(work)")
        }
    }

    private func query(_ kind: String, _ collection: CollectionPath, _ size: Int) throws -> Query {
        let rank = Query.Order(.field(try FieldPath("rank")))
        let even = Filter.field(try FieldPath("even"), .equal(.boolean(true)))
        let place = try FieldPath("place")
        let center = try GeoPoint(validatingLatitude: 0, longitude: -179.9)
        var query = Query(.collection(collection), limit: .first(10))
        switch kind {
        case "order": query.orders = [rank]
        case "order and equality": (query.orders, query.filter) = ([rank], even)
        case "descending": (query.orders, query.filter) = ([Query.Order(rank.key, .descending)], even)
        case "name": break
        case "equality by name": query.filter = even
        case "two equalities": query.filter = .and([even, .field(try FieldPath("tags"), .arrayContains(.string("third")))])
        case "cursor":
            query.orders = [rank]
            query.start = Query.Cursor([.integer(Int64(size / 2))], isInclusive: false)
        case "range": query.filter = .and([even, .field(try FieldPath("rank"), .greater(.integer(Int64(size / 2))))])
        case "nearest first": query.orders = [Query.Order(.distance(of: place, from: center))]
        case "everywhere": query.source = .descendants(of: nil)
        case "everywhere with a cursor":
            query.source = .descendants(of: nil)
            query.start = Query.Cursor([.string("\(collection.id.key)/d50")], isInclusive: true)
            query.orders = [Query.Order(.field(.documentName))]
        case "in a group": (query.source, query.orders) = (.collectionGroup(collection.id, below: nil), [rank])
        default: query.filter = .or([even, .field(try FieldPath("tags"), .arrayContains(.string("third")))])
        }
        return query
    }

    @Test("go over to sorting when walking turns out to be more work, and give the same")
    func changeOfMind() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 3_000)
            var query = Query(.collection(try CollectionPath("c")))
            query.filter = .field(try FieldPath("rare"), .equal(.boolean(true)))
            query.orders = [Query.Order(.field(try FieldPath("rank")))]
            query.limit = .first(20)
            let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.map(\.path.id.key.string) == (2_900..<2_920).map { "d\($0)" })
            #expect(answer.work.plan.contains { $0.utf8.starts(with: "Give that up".utf8) }, "\(answer.work)")
            #expect(answer.work.documentsRead < 130, "\(answer.work)")
        }
    }

    @Test("count entries without reading documents")
    func counts() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 600)
            let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "n")])
            let even = Filter.field(try FieldPath("even"), .equal(.boolean(true)))
            let third = Filter.field(try FieldPath("tags"), .arrayContains(.string("third")))
            let upper = Filter.field(try FieldPath("rank"), .greaterOrEqual(.integer(300)))
            let name = Filter.field(.documentName, .less(.string("d1")))
            for (filter, expected) in [
                (nil, 600), (even, 300), (third, 200), (.and([even, third]), 100), (upper, 300), (.and([even, upper]), 150),
                (.and([third, upper, even]), 50), (name, 1),
            ] as [(Filter?, Int64)] {
                let query = try NormalizedQuery(Query(.collection(try CollectionPath("c")), where: filter))
                let answer = try await store.aggregate(query, count, readTime: nil)
                #expect(answer.results["n" as UTF8Key] == .integer(expected), "\(answer.work)")
                #expect(answer.work.documentsRead == 0, "\(answer.work)")
            }
        }
    }

    @Test("find places across the antimeridian and at a pole, with other conditions, farthest first too")
    func antimeridian() async throws {
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
            let island = Filter.field(try FieldPath("island"), .equal(.boolean(true)))
            let nearest = [Query.Order(.distance(of: at, from: fiji))]
            let farthest = [Query.Order(.distance(of: at, from: fiji), .descending)]
            let around = Filter.field(at, .near(try GeoCircle(center: fiji, radius: 1_200_000)))
            let top = Filter.field(
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
            ] as [(Filter?, [Query.Order], Int?, [String])] {
                var query = Query(.collection(try CollectionPath("p")), where: filter, orders: orders)
                query.limit = limit.map { .first($0) }
                let answer = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
                #expect(answer.documents.map(\.path.id.key.string) == expected, "\(answer.work)")
            }
        }
    }

    @Test("refuse what is larger than an answer, and say what to do")
    func tooLarge() async throws {
        try await fixture.withStore { store in
            for index in 0..<4 { try await store.set("c/\(index)", ["t": .string(String(repeating: "x", count: 1_000))]) }
            let source = Query.Source.collection(try CollectionPath("c"))
            for query in [Query(source), Query(source, orders: [Query.Order(.field(try FieldPath("t")))], limit: .first(4))] {
                let error = await expectStatus(.resourceExhausted) {
                    try await store.run(NormalizedQuery(query), maximumBytes: 3_000, readTime: nil)
                }
                #expect(error?.message.contains("limit") == true)
            }
            let two = try NormalizedQuery(Query(source, offset: 2))
            #expect(try await store.run(two, maximumBytes: 3_000, readTime: nil).documents.count == 2)
        }
    }

    @Test("end when nobody waits for them any more")
    func cancelled() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 2_000)
            let numbers = try NormalizedAggregations([Aggregation(.sum(FieldPath("rank")))])
            let path = try CollectionPath("c")
            for source in [Query.Source.collection(path), .collectionGroup(path.id, below: nil), .descendants(of: nil)] {
                let query = try NormalizedQuery(Query(source), aggregating: numbers.fields)
                let task = Task { try await store.aggregate(query, numbers, readTime: nil) }
                task.cancel()
                await expectStatus(.cancelled) { try await task.value }
            }
        }
    }

    @Test("report a document whose file is damaged, and give the others")
    func damaged() async throws {
        try await fixture.withStore { store in
            try await store.fill("c", 20)
            try await store.waitUntilIndexed()
            try fixture.folder.write("{", to: "data/documents/c/d7.json")
            let query = try NormalizedQuery(Query(.collection(try CollectionPath("c"))))
            let answer = try await store.run(query, maximumBytes: 1 << 20, readTime: nil)
            #expect(answer.documents.count == 19)
            #expect(answer.damaged.map(\.path) == ["c/d7"])
            #expect(answer.damaged.first?.file?.path == "documents/c/d7.json")
        }
    }
}

extension FileStore {
    /// Makes documents `d0`, `d1` and so on.
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
                return Write(path: path.document(try DocumentID("d\(index)")), operation: .replace(fields))
            }
            _ = try await commit(writes)
        }
    }
}
