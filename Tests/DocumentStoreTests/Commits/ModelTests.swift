import DocumentModel
import DocumentStore
import StrictJSON
import TestSupport
import Testing

@Suite("The store agrees with a dictionary")
struct ModelTests {
    @Test("Random writes, reads, restarts and crashes", .timeLimit(.minutes(2)), arguments: 0..<3)
    func random(run: UInt64) async throws {
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed &+ run)
        var fixture = try StoreFixture()
        fixture.configuration.segmentBytes = 8 << 10
        // Indexes are forgotten at once.
        if run == 1 { fixture.configuration.historyBytes = 0 }
        var model = Model()
        /// What the store held from each time on.
        var past: [(time: Timestamp, model: Model)] = []
        var folder = "data0"
        var store = try await fixture.open(at: folder)
        for step in 0..<250 {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<70:
                let writes = try (0..<Int.random(in: 1...4, using: &generator)).map { _ in try Self.write(&generator) }
                let expected = model.applying(writes)
                do {
                    let result = try await store.commit(writes)
                    #expect(expected != nil, "step \(step), seed \(generator.seed): \(writes)")
                    model = expected ?? model
                    past.append((result.commitTime, model))
                } catch {
                    #expect(expected == nil, "step \(step), seed \(generator.seed): \(writes) threw \(error)")
                }
            case 70..<85:
                let path = try Self.path(&generator)
                #expect(try await store.document(at: path)?.decoded().fields == model.documents[path], "seed \(generator.seed)")
            case 85..<88:
                try await Self.compareLists(store, model, seed: generator.seed)
            case 88..<93:
                guard let (time, then) = past.randomElement(using: &generator) else { continue }
                try await Self.compareLists(store, then, at: time, seed: generator.seed)
                for path in then.documents.keys.union(model.documents.keys) {
                    let found = try await store.document(at: path, readTime: time)?.decoded().fields
                    #expect(found == then.documents[path], "\(path) at \(time), step \(step), seed \(generator.seed)")
                }
            case 93..<96:
                await store.close()
                store = try await fixture.open(at: folder)
            default:
                let copy = "data\(step + 1)"
                try fixture.folder.copy(folder, to: copy)
                folder = copy
                store = try await fixture.open(at: folder)
                try await Self.compareLists(store, model, seed: generator.seed)
            }
        }
        try await Self.compareLists(store, model, seed: generator.seed)
        await store.close()
    }

    private static func compareLists(
        _ store: FileStore,
        _ model: Model,
        at time: Timestamp? = nil,
        seed: UInt64
    ) async throws {
        var collections = Set(model.documents.keys.map(\.collection))
        collections.formUnion(model.documents.keys.compactMap(\.collection.parent?.collection))
        try collections.formUnion(["c", "d.json", "c/a/a"].map { try CollectionPath($0) })
        for collection in collections {
            let page = try await store.all(in: collection, at: time)
            var found: [DocumentPath: MapValue] = [:]
            var missing: Set<DocumentPath> = []
            for entry in page.documents {
                switch entry {
                case .document(let document): found[document.path] = try document.decoded().fields
                case .missing(let path): missing.insert(path)
                }
            }
            #expect(page.damaged.isEmpty)
            #expect(page.documents.map(\.path) == page.documents.map(\.path).sorted())
            #expect(found == model.documents.filter { $0.key.collection == collection }, "seed \(seed)")
            #expect(missing == model.missing(in: collection), "seed \(seed)")
        }
        for parent in [nil, try DocumentPath("c/a")] {
            let depth = parent?.segments.count ?? 0
            let found = try await store.collections(under: parent, after: nil, limit: 100, readTime: time).collections
            let below = model.documents.keys.map(\.segments).filter {
                $0.count > depth && $0.starts(with: parent?.segments ?? [])
            }
            #expect(found.map(\.key) == Set(below.map { $0[depth] }).sorted(), "seed \(seed)")
        }
    }

    private static func path(_ generator: inout SeededGenerator) throws -> DocumentPath {
        let ids = ["a", "a.json", "é", "e\u{301}", ".x", "%41", String(repeating: "long", count: 70), "__id7__"]
        var path = try CollectionPath(["c", "d.json"].randomElement(using: &generator) ?? "c")
            .document(DocumentID(ids.randomElement(using: &generator) ?? "a"))
        while Int.random(in: 0..<3, using: &generator) == 0, path.segments.count < 6 {
            path = path.collection(try CollectionID("a")).document(try DocumentID(ids.randomElement(using: &generator) ?? "a"))
        }
        return path
    }

    private static func write(_ generator: inout SeededGenerator) throws -> Write {
        let path = try path(&generator)
        let fields: MapValue = ["n": .integer(.random(in: 0...3, using: &generator)), "t": .string("é\u{2028}🐵")]
        let transform = FieldTransform(field: try FieldPath("count"), operation: .increment(.integer(1)))
        return switch Int.random(in: 0..<7, using: &generator) {
        case 0: Write(path: path, operation: .replace(fields), transforms: [transform])
        case 1: .create(path, fields)
        case 2: try .update(path, [(FieldPath("n"), .integer(9)), (FieldPath("deep.er"), .double(0.5))])
        case 3: try .set(path, ["m": .map(["x": .null])], merge: .all)
        case 4, 5: .delete(path)
        default: Write(path: path, operation: .replace(fields))
        }
    }
}

extension FileStore {
    /// All of a collection, in pages of any size.
    fileprivate func all(in collection: CollectionPath, at time: Timestamp?) async throws -> DocumentPage {
        let limit = [1, 2, 3, 1_000].randomElement() ?? 1
        var documents: [ListedDocument] = []
        var damaged: [StatusError] = []
        var after: DocumentID?
        repeat {
            let page = try await self.documents(
                in: collection,
                after: after,
                limit: limit,
                includingMissing: true,
                readTime: time
            )
            #expect(page.documents.count <= limit)
            documents += page.documents
            damaged += page.damaged
            after = page.next
        } while after != nil
        return DocumentPage(documents: documents, next: nil, damaged: damaged)
    }
}

extension Dictionary.Keys where Element: Hashable {
    fileprivate func union(_ others: Self) -> Set<Element> { Set(self).union(others) }
}

/// What the store should hold.
private struct Model {
    var documents: [DocumentPath: MapValue] = [:]

    /// The model after all the writes, or nil when one of them fails.
    func applying(_ writes: [Write]) -> Model? {
        var result = self
        for write in writes {
            var fields = result.documents[write.path]
            if case .exists(let exists) = write.precondition, exists != (fields != nil) { return nil }
            switch write.operation {
            case .replace(let new): fields = new
            case .patch(let new, let mask):
                var patched = fields ?? MapValue()
                for path in mask {
                    if let value = new[path] { patched.set(value, at: path) } else { patched.remove(at: path) }
                }
                fields = patched
            case .delete: fields = nil
            }
            if !write.transforms.isEmpty {
                let count: Int64 = if case .integer(let count) = fields?["count" as UTF8Key] { count } else { 0 }
                fields?["count" as UTF8Key] = .integer(count + 1)
            }
            result.documents[write.path] = fields
        }
        return result
    }

    func missing(in collection: CollectionPath) -> Set<DocumentPath> {
        let depth = collection.segments.count
        let parents = documents.keys.filter {
            $0.segments.count > depth + 1 && Array($0.segments.prefix(depth)) == collection.segments
        }
        let ids = parents.compactMap { try? DocumentID($0.segments[depth].string) }
        return Set(ids.map { collection.document($0) }.filter { documents[$0] == nil })
    }
}
