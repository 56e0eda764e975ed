import DocumentModel
import DocumentStore
import FileStore
import TestSupport
import Testing
import UTF8Text

@Suite("The store behaves like a dictionary", .tags(.slow))
struct ModelTests {
    /// The number of steps of a run.
    private static let steps = 1_000

    @Test(.timeLimit(.minutes(10)), arguments: 0..<3)
    func `Random writes, reads, restarts and crashes agree with the model`(run: UInt64) async throws {
        print("Run \(run) of the model: HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed &+ run)
        var fixture = try StoreFixture()
        fixture.configuration.segmentBytes = 8 << 10
        // Evicts history indexes at once.
        if run == 1 { fixture.configuration.historyBytes = 0 }
        var model = Model()
        /// The expected contents as of each commit time.
        var past: [(time: Timestamp, model: Model)] = []
        var folder = "data0"
        var store = try await fixture.open(at: folder)
        for step in 0..<Self.steps {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<60:
                let count = Int.random(in: 1...4, using: &generator)
                let writes = try (0..<count).map { _ in try Self.write(&generator, in: model, isAlone: count == 1) }
                try await Self.commit([writes], to: store, &model, &past, "step \(step), seed \(generator.seed)")
            case 60..<70:
                // Concurrent commits, in one or more batches. Each writes another document, so their order does not matter.
                var commits: [DocumentPath: [Write]] = [:]
                for _ in 0..<8 {
                    let write = try Self.write(&generator, in: model, isAlone: true)
                    commits[write.path] = [write]
                }
                try await Self.commit(Array(commits.values), to: store, &model, &past, "step \(step), seed \(generator.seed)")
            case 70..<88:
                let path = try Self.path(&generator)
                #expect(try await store.document(at: path)?.decoded().fields == model.documents[path], "seed \(generator.seed)")
            case 88..<90:
                try await Self.compareLists(store, model, &generator)
            case 90..<91:
                // A recent time, because an older one requires reading all commits since.
                guard let (time, then) = past.suffix(100).randomElement(using: &generator) else { continue }
                try await Self.compareLists(store, then, at: time, &generator)
                for path in then.documents.keys.union(model.documents.keys) {
                    let found = try await store.document(at: path, readTime: time)?.decoded().fields
                    #expect(found == then.documents[path], "\(path) at \(time), step \(step), seed \(generator.seed)")
                }
            case 91..<92:
                await store.close()
                store = try await fixture.open(at: folder)
            case 92..<93:
                let copy = "data\(step + 1)"
                try fixture.folder.copy(folder, to: copy)
                // The copy is as after a crash; the original is not needed. Its index may still be written.
                try? fixture.folder.remove(folder)
                folder = copy
                store = try await fixture.open(at: folder)
                try await Self.compareLists(store, model, &generator)
            default:
                let path = try Self.path(&generator)
                let before = past.randomElement(using: &generator)?.time
                for version in try await store.history(of: path, before: before, limit: 3).versions {
                    guard let then = past.last(where: { $0.time <= version.commitTime })?.model else { continue }
                    #expect(try version.document?.decoded().fields == then.documents[path], "seed \(generator.seed)")
                }
            }
        }
        try await Self.compareLists(store, model, &generator)
        await store.close()
    }

    /// Commits concurrently, and compares the outcomes with the model.
    private static func commit(
        _ commits: [[Write]],
        to store: FileStore,
        _ model: inout Model,
        _ past: inout [(time: Timestamp, model: Model)],
        _ context: Comment
    ) async throws {
        let outcomes = await withTaskGroup { group in
            for writes in commits {
                group.addTask { () -> ([Write], Result<CommitResult, StatusError>) in
                    do throws(StatusError) {
                        return (writes, .success(try await store.commit(writes)))
                    } catch {
                        return (writes, .failure(error))
                    }
                }
            }
            return await group.reduce(into: [([Write], Result<CommitResult, StatusError>)]()) { $0.append($1) }
        }
        var done: [(writes: [Write], result: CommitResult)] = []
        for (writes, outcome) in outcomes {
            let isPossible = model.applying(writes, at: Timestamp.current()) != nil
            switch outcome {
            case .success(let result):
                #expect(isPossible, context)
                done.append((writes, result))
            case .failure(let error):
                #expect(!isPossible, "\(writes) threw \(error), \(context)")
            }
        }
        for (writes, result) in done.sorted(by: { $0.result.commitTime < $1.result.commitTime }) {
            let before = model
            model = model.applying(writes, at: result.commitTime) ?? model
            for (write, result) in zip(writes, result.writeResults) { model.updateTimes[write.path] = result.updateTime }
            if writes.count == 1, let write = writes.first, let known = before.updateTimes[write.path] {
                let isSame = before.documents[write.path] == model.documents[write.path]
                if isSame { #expect(model.updateTimes[write.path] == known, context) }
            }
            past.append((result.commitTime, model))
        }
    }

    private static func compareLists(
        _ store: FileStore,
        _ model: Model,
        at time: Timestamp? = nil,
        _ generator: inout SeededGenerator
    ) async throws {
        let seed = generator.seed
        var collections = Set(model.documents.keys.map(\.collection))
        collections.formUnion(model.documents.keys.compactMap(\.collection.parent?.collection))
        try collections.formUnion(["c", "d.json", "c/a/a"].map { try CollectionPath($0) })
        for collection in collections {
            let limit = [1, 2, 3, 1_000].randomElement(using: &generator) ?? 1
            let page = try await store.all(in: collection, at: time, limit: limit)
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
            .document(DocumentPath.ID(ids.randomElement(using: &generator) ?? "a"))
        while Int.random(in: 0..<3, using: &generator) == 0, path.segments.count < 6 {
            path = path.collection(try CollectionID("a")).document(
                try DocumentPath.ID(ids.randomElement(using: &generator) ?? "a")
            )
        }
        return path
    }

    /// - Parameter isAlone: True for the only write of its commit.
    private static func write(
        _ generator: inout SeededGenerator,
        in model: Model,
        isAlone: Bool
    ) throws -> Write {
        let path = try path(&generator)
        let fields: MapValue = ["n": .integer(.random(in: 0...3, using: &generator)), "t": .string("é\u{2028}🐵")]
        var write: Write =
            switch Int.random(in: 0..<9, using: &generator) {
            case 0: Write.create(path, fields)
            case 1: try .update(path, [(FieldPath("n"), .integer(9)), (FieldPath("deep.er"), .double(0.5))])
            case 2: try .update(path, [(FieldPath("m.y"), .boolean(true))], delete: [FieldPath("n")])
            case 3: try .set(path, ["m": .map(["x": .null])], merge: .all)
            case 4:
                try .set(path, ["m": .map(["x": .integer(1), "z": .null]), "n": .null], merge: .fields([FieldPath("m.x")]))
            case 5, 6: .delete(path)
            default: Write(path: path, operation: .replace(fields))
            }
        if write.operation != .delete {
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                let transform = try transform(&generator)
                if !write.transforms.contains(where: { $0.field == transform.field }) { write.transforms.append(transform) }
            }
        }
        guard write.precondition == .none else { return write }
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: write.precondition = .exists(.random(using: &generator))
        case 1, 2:
            guard isAlone, let known = model.updateTimes[path] else { return write }
            let isRight = Bool.random(using: &generator)
            write.precondition = .updateTime(isRight ? known : try Timestamp(microseconds: known.microseconds - 1))
        default: break
        }
        return write
    }

    private static func transform(_ generator: inout SeededGenerator) throws -> FieldTransform {
        let number = Value.integer(.random(in: -3...3, using: &generator))
        let elements = (0..<3).map { _ in Value.integer(.random(in: 0...3, using: &generator)) }
        return switch Int.random(in: 0..<6, using: &generator) {
        case 0: FieldTransform(field: try FieldPath("at"), operation: .serverTimestamp)
        case 1: FieldTransform(field: try FieldPath("count"), operation: .increment(number))
        case 2: FieldTransform(field: try FieldPath("deep.most"), operation: .maximum(number))
        case 3: FieldTransform(field: try FieldPath("least"), operation: .minimum(number))
        case 4: FieldTransform(field: try FieldPath("list"), operation: .arrayUnion(elements))
        default: FieldTransform(field: try FieldPath("list"), operation: .arrayRemove(elements))
        }
    }
}

extension FileStore {
    /// Returns all entries of a collection, read in pages of `limit` entries.
    fileprivate func all(in collection: CollectionPath, at time: Timestamp?, limit: Int) async throws -> DocumentPage {
        var documents: [ListedDocument] = []
        var damaged: [StatusError] = []
        var after: DocumentPath.ID?
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

/// The expected contents of the store.
private struct Model {
    var documents: [DocumentPath: MapValue] = [:]
    /// The update times that the store returned.
    var updateTimes: [DocumentPath: Timestamp] = [:]

    /// Returns the model after all writes; `nil` if one of them fails.
    func applying(_ writes: [Write], at time: Timestamp) -> Model? {
        var result = self
        for write in writes {
            var fields = result.documents[write.path]
            switch write.precondition {
            case .none: break
            case .exists(let exists): if exists != (fields != nil) { return nil }
            case .updateTime(let time): if fields == nil || time != updateTimes[write.path] { return nil }
            }
            switch write.operation {
            case .replace(let new): fields = new
            case .patch(let new, let mask):
                var patched = fields ?? MapValue()
                for path in mask {
                    if let value = new[path] { patched.set(value, at: path) } else { patched.remove(at: path) }
                }
                fields = patched
            case .delete: fields = nil
            case .verify: break
            }
            for transform in write.transforms {
                let current = fields?[transform.field]
                fields?.set(Self.value(of: transform.operation, current, time), at: transform.field)
            }
            result.documents[write.path] = fields
        }
        return result
    }

    /// Returns the result of a transform of small integers.
    private static func value(of operation: FieldTransform.Operation, _ current: Value?, _ time: Timestamp) -> Value {
        let number: Int64? = if case .integer(let number) = current { number } else { nil }
        let elements: [Value] = if case .array(let elements) = current { elements } else { [] }
        switch operation {
        case .serverTimestamp:
            return .timestamp((try? Timestamp(microseconds: time.microseconds / 1_000 * 1_000)) ?? time)
        case .increment(.integer(let operand)): return .integer((number ?? 0) + operand)
        case .maximum(.integer(let operand)): return .integer(max(number ?? operand, operand))
        case .minimum(.integer(let operand)): return .integer(min(number ?? operand, operand))
        case .arrayUnion(let operands):
            return .array(operands.reduce(into: elements) { if !$0.contains($1) { $0.append($1) } })
        case .arrayRemove(let operands): return .array(elements.filter { !operands.contains($0) })
        case .increment(let operand), .maximum(let operand), .minimum(let operand): return operand
        }
    }

    func missing(in collection: CollectionPath) -> Set<DocumentPath> {
        let depth = collection.segments.count
        let parents = documents.keys.filter {
            $0.segments.count > depth + 1 && Array($0.segments.prefix(depth)) == collection.segments
        }
        let ids = parents.compactMap { try? DocumentPath.ID($0.segments[depth].string) }
        return Set(ids.map { collection.document($0) }.filter { documents[$0] == nil })
    }
}
