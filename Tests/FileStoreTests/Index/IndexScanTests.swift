import QueryEngine
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import DocumentModel
@testable import FileStore

/// Compares index scans with scans of all documents.
@Suite("Index scans", .tags(.slow))
struct IndexScanTests {
    private let fixture: StoreFixture
    private let seed: Comment = "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)"
    private static let fields = ["a", "b", "c", "a.a", "a.b", "b.a"]

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Scans return exactly the documents that have the field, in order, after writes and deletes`() async throws {
        var generator = SeededGenerator()
        try await fixture.withStore { store in
            var documents: [DocumentPath: MapValue] = [:]
            for round in 0..<4 {
                try await write(60, to: store, &documents, &generator)
                for _ in 0..<40 {
                    try await compare(scan(&generator), store, documents)
                }
                if round == 1 { try await deleteHalf(of: store, &documents, &generator) }
            }
        }
        try await expectNoFindings()
    }

    @Test
    func `Scans return the same rows after a rebuild`() async throws {
        var generator = SeededGenerator()
        var documents: [DocumentPath: MapValue] = [:]
        try await fixture.withStore { store in try await write(80, to: store, &documents, &generator) }
        try fixture.folder.remove("data/index.sqlite")
        try await fixture.withStore { store in
            for _ in 0..<40 { try await compare(scan(&generator), store, documents) }
        }
        try await expectNoFindings()
    }

    @Test
    func `Scans start after a position, in either direction, and their rows are counted`() async throws {
        var generator = SeededGenerator()
        try await fixture.withStore { store in
            var documents: [DocumentPath: MapValue] = [:]
            try await write(80, to: store, &documents, &generator)
            for _ in 0..<30 {
                let scan = try scan(&generator)
                let all = try await store.rows(scan)
                for start in [0, all.count / 2, all.count - 1] where all.indices.contains(start) {
                    var rest = scan
                    rest.after = all[start]
                    #expect(try await store.rows(rest) == Array(all[(start + 1)...]), "\(scan); \(seed)")
                }
                let found1 = try await store.count(scan)
                #expect(found1 == all.count, "\(scan); \(seed)")
                let found2 = try await store.count(scan, limit: 3)
                #expect(found2 == min(3, all.count))
            }
        }
    }

    @Test
    func `Scans find the geo points in a box`() async throws {
        try await fixture.withStore { store in
            for (id, latitude, longitude) in [("hamburg", 53.55, 9.98), ("tonga", -21.1, -175.2), ("fiji", -17.7, 178.0)] {
                let point = Value.geoPoint(try GeoPoint(validatingLatitude: latitude, longitude: longitude))
                try await store.set("cities/\(id)", ["place": .map(["at": point])])
                try await store.set("countries/c/cities/\(id)", ["place": .map(["at": point])])
                try await store.set("other/\(id)", ["place": .map(["at": point])])
            }
            let all = GeoIndexBox(south: -90, north: 90, west: -180, east: 180)
            let pacific = GeoIndexBox(south: -30, north: 0, west: 170, east: 180)
            let cities = IndexTarget.collection(try CollectionPath("cities"))
            let found3 = try await store.pathsOfGeoPoints(cities, in: all)
            #expect(found3 == ["cities/fiji", "cities/hamburg", "cities/tonga"])
            let found4 = try await store.pathsOfGeoPoints(cities, in: pacific)
            #expect(found4 == ["cities/fiji"])
            let group = IndexTarget.group(try CollectionID("cities"), below: nil)
            let found5 = try await store.pathsOfGeoPoints(group, in: pacific)
            #expect(found5 == ["cities/fiji", "countries/c/cities/fiji"])
            let below = IndexTarget.group(try CollectionID("cities"), below: try DocumentPath("countries/c"))
            let found6 = try await store.pathsOfGeoPoints(below, in: pacific)
            #expect(found6 == ["countries/c/cities/fiji"])
            try await store.delete("cities/fiji")
            try await store.set(
                "cities/tonga",
                ["place": .map(["at": .geoPoint(try GeoPoint(validatingLatitude: -17.7, longitude: 178))])]
            )
            let found7 = try await store.pathsOfGeoPoints(cities, in: pacific)
            #expect(found7 == ["cities/tonga"])
        }
        try await expectNoFindings()
    }
}

extension IndexScanTests {
    private func expectNoFindings(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let findings = try await fixture.findings()
        #expect(findings == [], seed, sourceLocation: sourceLocation)
    }

    private func write(
        _ count: Int,
        to store: FileStore,
        _ documents: inout [DocumentPath: MapValue],
        _ generator: inout SeededGenerator
    ) async throws {
        var random = RandomIndexedFields(generator: generator)
        for _ in 0..<count {
            let collection = random.pick(["c", "p/1/c", "p/2/c", "c/1/c", "d"])
            let path = try DocumentPath(
                "\(collection)/\(random.pick(["1", "2", "a", "b", "é", "__id7__", "__id12__", "\u{1}x"]))"
            )
            let fields = random.fields()
            try await store.set(path.string, fields)
            documents[path] = fields
        }
        generator = random.generator
    }

    private func deleteHalf(
        of store: FileStore,
        _ documents: inout [DocumentPath: MapValue],
        _ generator: inout SeededGenerator
    ) async throws {
        for path in documents.keys.sorted() where generator.chance(50) {
            try await store.delete(path.string)
            documents[path] = nil
        }
    }

    private func scan(_ generator: inout SeededGenerator) throws -> IndexScan {
        var random = RandomIndexedFields(generator: generator)
        let id = try CollectionID("c")
        let targets: [IndexTarget] = [
            .collection(try CollectionPath("c")), .collection(try CollectionPath("p/1/c")), .group(id, below: nil),
            .group(id, below: try DocumentPath("p/1")), .group(id, below: try DocumentPath("c/1")), .all(below: nil),
            .all(below: try DocumentPath("c/1")),
        ]
        let target = random.pick(targets)
        let path = try FieldPath(random.pick(Self.fields))
        let value = random.value(1)
        let ranges: [ValueKeyRange] = [
            .all, .equal(to: ValueKey(value)), .less(than: value, orEqual: true), .greater(than: value, orEqual: false),
            .bracket(TypeBracket(of: value)),
        ]
        var scan = IndexScan(
            target: target,
            index: target.isOfAll
                ? .documents : random.pick([.documents, .values(of: path), .values(of: path), .elements(of: path)]),
            values: random.pick(ranges),
            isDescending: random.generator.chance(50)
        )
        if random.generator.chance(30) {
            let path = try DocumentPath(random.pick(["c/2", "p/1/c/b", "p/2/c/__id7__"]))
            let name: [UInt8] =
                if case .collection = scan.target { NameKey(path.id).bytes } else { NameKey(path).bytes }
            scan.names = random.pick([NameBound(name)..<NameBound([0xff]), NameBound([])..<NameBound(name)])
        }
        generator = random.generator
        return scan
    }

    private func compare(_ scan: IndexScan, _ store: FileStore, _ documents: [DocumentPath: MapValue]) async throws {
        var expected: [IndexScan.Position] = []
        for (path, fields) in documents {
            guard let name = scan.target.name(of: path) else { continue }
            if let names = scan.names, !names.contains(NameBound(name)) { continue }
            let values: [Value]
            switch scan.index {
            case .documents:
                expected.append(IndexScan.Position(value: [], name: name))
                continue
            case .composite: values = []
            case .values(of: let field): values = fields[field].map { [$0] } ?? []
            case .elements(of: let field):
                if case .array(let elements)? = fields[field] { values = elements } else { values = [] }
            }
            for key in Set(values.map { ValueKey($0).bytes }) {
                guard !key.lexicographicallyPrecedes(scan.values.lower), key.lexicographicallyPrecedes(scan.values.upper) else {
                    continue
                }
                expected.append(IndexScan.Position(value: key, name: name))
            }
        }
        expected.sort { scan.isDescending ? $1 < $0 : $0 < $1 }
        let found = try await store.rows(scan)
        #expect(found == expected, "\(scan); \(seed)")
    }
}

extension IndexTarget {
    /// Indicates whether the target has no field entries.
    fileprivate var isOfAll: Bool {
        if case .all = self { true } else { false }
    }

    /// Returns the name of a document in the target; `nil` if the target does not contain it.
    fileprivate func name(of path: DocumentPath) -> [UInt8]? {
        switch self {
        case .collection(let collection): path.collection == collection ? NameKey(path.id).bytes : nil
        case .group(let id, below: let parent):
            path.collection.id == id ? Self.all(below: parent).name(of: path) : nil
        case .all(below: let parent):
            parent.map { path.segments.starts(with: $0.segments) && path != $0 } ?? true ? NameKey(path).bytes : nil
        }
    }
}
