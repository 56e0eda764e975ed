import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import Journal

@Suite("Point-in-time reads", .tags(.slow))
struct PointInTimeReadTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(
        arguments: [false, true]
    )
    func `A document created, changed, deleted and created again is read as of every commit, even after a restart`(
        isReopened: Bool
    ) async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 2 << 10
        var times: [(Timestamp, MapValue?)] = []
        func record(_ result: CommitResult, _ fields: MapValue?) { times.append((result.commitTime, fields)) }
        let store = try await fixture.open()
        let start = try await store.set("c/other", [:]).commitTime
        for round in 0..<10 {
            let fields: MapValue = ["n": .integer(Int64(round)), "text": .string(String(repeating: "x", count: 400))]
            record(try await store.set("c/d", fields), fields)
            try await store.set("c/other", fields)
            if round.isMultiple(of: 3) { record(try await store.delete("c/d"), nil) }
        }
        if isReopened { await store.close() }
        let reader = isReopened ? try await fixture.open() : store
        let path = try DocumentPath("c/d")
        #expect(try await reader.document(at: path, readTime: start) == nil)
        for (index, (time, fields)) in times.enumerated() {
            #expect(try await reader.document(at: path, readTime: time)?.decoded().fields == fields)
            // The document is the same until just before the next commit.
            guard index + 1 < times.count else { continue }
            let before = try Timestamp(microseconds: times[index + 1].0.microseconds - 1)
            #expect(try await reader.document(at: path, readTime: before)?.decoded().fields == fields)
        }
        await reader.close()
    }

    @Test(.timeLimit(.minutes(10)), arguments: [true, false])
    func `A journal segment that another program removed is reported when history needs it`(isOldest: Bool) async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 4 << 10
        fixture.configuration.checkpointBytes = 4 << 10
        fixture.configuration.retentionBytes = 40 << 10
        let path = try DocumentPath("c/d")
        var times: [SequenceNumber: Timestamp] = [:]
        try await fixture.withStore { store in
            while store.position.oldestRetained < SequenceNumber(5) {
                let text = String(repeating: "x", count: 400) + "\(times.count)"
                let result = try await store.set("c/d", ["text": .string(text)])
                times[try #require(result.sequence)] = result.commitTime
            }
        }
        try await fixture.withStore { store throws in
            let segments = store.components.history.journal.segments
            #expect(segments.count > 3)
            let time = try #require(times[segments[0]])
            #expect(try await store.document(at: path, readTime: time) != nil)
        }
        // Opened again, so that no segment has been read.
        try await fixture.withStore { store throws in
            let segments = store.components.history.journal.segments
            try fixture.folder.remove("data/journal/\(JournalSegment.name(first: segments[isOldest ? 0 : 1]))")
            let time = try #require(times[segments[0]])
            let error = await expectStatus(.dataLoss) { try await store.document(at: path, readTime: time) }
            #expect(error?.message.contains("is missing") == true)
            #expect(try await store.document(at: path, readTime: nil) != nil)
        }
    }

    @Test
    func `A listing as of a time returns what existed then, whatever happened to the other documents since`() async throws {
        try await fixture.withStore { store in
            for number in 0..<300 { try await store.set("c/old\(number)", ["n": .integer(0)]) }
            let time = try await store.set("other/d", [:]).commitTime
            for round in 1...3 {
                for number in 0..<300 {
                    try await store.set("c/new\(number)", ["n": .integer(Int64(round))])
                    if number % 2 == 0 { try await store.delete("c/new\(number)") }
                    try await store.delete("c/old\(number)")
                    if number % 3 == 0 { try await store.set("c/old\(number)", ["n": .integer(Int64(round))]) }
                }
            }
            var ids: [String] = []
            var after: DocumentPath.ID?
            repeat {
                let page = try await store.documents(
                    in: CollectionPath("c"),
                    after: after,
                    limit: 7,
                    includingMissing: false,
                    readTime: time
                )
                ids += page.ids
                after = page.next
            } while after != nil
            #expect(Set(ids).count == ids.count && Set(ids) == Set((0..<300).map { "old\($0)" }))
        }
    }

    @Test
    func `A point-in-time read returns the document with its times`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            let then = try #require(try await store.document(at: DocumentPath("c/d")))
            try await store.set("c/d", ["n": .integer(2)])
            #expect(try await store.document(at: DocumentPath("c/d"), readTime: then.updateTime) == then)
        }
    }

    @Test
    func `A collection is listed in pages as of a time`() async throws {
        try await fixture.withStore { store in
            for id in ["a", "c", "e", "g"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            let time = try #require(store.position.lastCommitTime)
            for id in ["b", "d", "h"] { try await store.set("c/\(id)", ["n": .integer(2)]) }
            for id in ["a", "g"] { try await store.delete("c/\(id)") }
            try await store.set("c/c", ["n": .integer(2)])
            let collection = try CollectionPath("c")
            for limit in 1...5 {
                var ids: [String] = []
                var after: DocumentPath.ID?
                repeat {
                    let page = try await store.documents(
                        in: collection,
                        after: after,
                        limit: limit,
                        includingMissing: false,
                        readTime: time
                    )
                    ids += page.ids
                    #expect(!page.ids.isEmpty || page.next == nil)
                    for case .document(let document) in page.documents {
                        #expect(try document.decoded().fields == ["n": .integer(1)])
                    }
                    after = page.next
                } while after != nil
                #expect(ids == ["a", "c", "e", "g"])
            }
        }
    }

    @Test
    func `Collections are listed as of a time, including deleted and without later ones`() async throws {
        try await fixture.withStore { store in
            try await store.set("old/a/sub/b", [:])
            try await store.set("both/a", [:])
            let time = try #require(store.position.lastCommitTime)
            try await store.delete("old/a/sub/b")
            try await store.set("new/a/sub/b", [:])
            func list(_ parent: String?) async throws -> [String] {
                let parent = try parent.map { try DocumentPath($0) }
                let page = try await store.collections(under: parent, after: nil, limit: 10, readTime: time)
                return page.collections.map(\.key.string)
            }
            #expect(try await list(nil) == ["both", "old"])
            #expect(try await list("old/a") == ["sub"])
            #expect(try await list("new/a") == [])
            let page = try await store.documents(
                in: CollectionPath("old"),
                after: nil,
                limit: 10,
                includingMissing: true,
                readTime: time
            )
            #expect(page.ids == ["(a)"])
            let first = try await store.collections(under: nil, after: nil, limit: 1, readTime: time)
            #expect(first.collections.map(\.key) == ["both"] && first.next?.key == "both")
        }
    }

    @Test
    func `A read time in the future is rejected`() async throws {
        try await fixture.withStore { store in
            let time = try Timestamp(microseconds: Timestamp.current().microseconds + 60_000_000)
            await expectStatus(.invalidArgument) { try await store.document(at: DocumentPath("c/d"), readTime: time) }
            await expectStatus(.invalidArgument) {
                try await store.documents(in: CollectionPath("c"), after: nil, limit: 1, includingMissing: false, readTime: time)
            }
            await expectStatus(.invalidArgument) { try await store.collections(under: nil, after: nil, limit: 1, readTime: time) }
        }
    }

    @Test
    func `A read time before the oldest retained commit is rejected`() async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 8 << 10
        fixture.configuration.retentionBytes = 32 << 10
        fixture.configuration.checkpointBytes = 16 << 10
        let path = try DocumentPath("c/d")
        let times = try await fixture.withStore { store in
            var times = [try await store.set("c/d", ["n": .integer(0)]).commitTime]
            for index in 1..<300 {
                let text = Value.string(String(repeating: "x", count: 300))
                times.append(try await store.set("c/d", ["n": .integer(Int64(index)), "text": text]).commitTime)
            }
            return times
        }
        try await fixture.withStore { store in
            let oldest = Int(store.position.oldestRetained.rawValue) - 1
            #expect(oldest > 0)
            for index in [0, oldest - 1] {
                await expectStatus(.failedPrecondition) { try await store.document(at: path, readTime: times[index]) }
            }
            for index in [oldest, oldest + 1, 298, 299] {
                let fields = try await store.document(at: path, readTime: times[index])?.decoded().fields
                #expect(fields?["n" as UTF8Key] == .integer(Int64(index)))
            }
        }
    }

    @Test
    func `Without a journal the history begins with the last commit`() async throws {
        let first = try await fixture.withStore { store in
            let first = try await store.set("c/d", ["n": .integer(1)]).commitTime
            try await store.set("c/d", ["n": .integer(2)])
            return first
        }
        try fixture.folder.remove("data/journal")
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d")
            await expectStatus(.failedPrecondition) { try await store.document(at: path, readTime: first) }
            let last = try #require(store.position.lastCommitTime)
            #expect(try await store.document(at: path, readTime: last)?.decoded().fields == ["n": .integer(2)])
            try await store.set("c/d", ["n": .integer(3)])
            #expect(try await store.document(at: path, readTime: last)?.decoded().fields == ["n": .integer(2)])
        }
    }

    @Test
    func `A read at the current time is repeatable under concurrent writes`() async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 16 << 10
        try await fixture.withStore { store in
            let ids = (0..<4).map { "d\($0)" }
            let collection = try CollectionPath("c")
            func read(_ time: Timestamp) async throws -> [EncodedDocument] {
                let page = try await store.documents(
                    in: collection,
                    after: nil,
                    limit: 10,
                    includingMissing: false,
                    readTime: time
                )
                var single: [EncodedDocument] = []
                for id in ids {
                    if let document = try await store.document(at: collection.document(DocumentPath.ID(id)), readTime: time) {
                        single.append(document)
                    }
                }
                let listed = page.documents.compactMap { if case .document(let document) = $0 { document } else { nil } }
                #expect(listed == single)
                #expect(listed.allSatisfy { $0.updateTime <= time })
                // One commit writes all of them.
                #expect(Set(listed.map(\.updateTime)).count <= 1)
                return listed
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for index in 0..<200 {
                        let isDeleted = index % 5 == 4
                        let writes = try ids.map { id in
                            let path = try collection.document(DocumentPath.ID(id))
                            return try isDeleted ? Write.delete(path) : .set(path, ["n": .integer(Int64(index))])
                        }
                        _ = try await store.commit(writes)
                    }
                }
                for _ in 0..<3 {
                    group.addTask {
                        var earlier: [(Timestamp, [EncodedDocument])] = []
                        for _ in 0..<25 {
                            let time = Timestamp.current()
                            earlier.append((time, try await read(time)))
                            guard let (then, found) = earlier.randomElement() else { continue }
                            #expect(try await read(then) == found)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `An edited file is returned as it is, unless a later commit changed the document`() async throws {
        try await fixture.withStore { store in
            for id in ["edited", "damaged"] { try await store.set("c/\(id)", ["n": .integer(1)]) }
            let time = try #require(store.position.lastCommitTime)
            let text = try fixture.folder.text(of: "data/documents/c/edited.json")
            try fixture.folder.write(text.replacing("\"n\": 1", with: "\"n\": 7"), to: "data/documents/c/edited.json")
            #expect(
                try await store.document(at: DocumentPath("c/edited"), readTime: time)?.decoded().fields == ["n": .integer(7)]
            )
            try await store.set("c/damaged", ["n": .integer(2)])
            try fixture.folder.write("{", to: "data/documents/c/damaged.json")
            #expect(
                try await store.document(at: DocumentPath("c/damaged"), readTime: time)?.decoded().fields == ["n": .integer(1)]
            )
            let page = try await store.documents(
                in: CollectionPath("c"),
                after: nil,
                limit: 10,
                includingMissing: false,
                readTime: time
            )
            #expect(page.ids == ["damaged", "edited"] && page.damaged.isEmpty)
        }
    }

    @Test
    func `A segment contains a document's before-image with its first change only`() async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 2 << 10
        try await fixture.withStore { store in
            for index in 0..<24 {
                let text = Value.string(String(repeating: "x", count: 200))
                for id in ["a", "b"] { try await store.set("c/\(id)", ["n": .integer(Int64(index)), "text": text]) }
            }
        }
        var last: [DocumentPath: EncodedDocument] = [:]
        let segments = try fixture.folder.segments(in: "data")
        #expect(segments.count > 5)
        for name in segments {
            let bytes = try fixture.folder.bytes(of: "data/journal/\(name)")
            var offset = JournalSegment.headerBytes
            var changed: Set<DocumentPath> = []
            while case .record(let record, let byteCount) = JournalRecord.read(bytes[offset...]) {
                for change in record.commit.changes {
                    let isFirst = changed.insert(change.path).inserted
                    #expect(change.before == (isFirst ? last[change.path] : nil))
                    #expect(change.existedBefore == (last[change.path] != nil))
                    last[change.path] = change.after
                }
                offset += byteCount
            }
        }
        #expect(last.count == 2)
    }

    @Test
    func `A damaged segment fails point-in-time reads, and current reads succeed`() async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 2 << 10
        let time = try await fixture.withStore { store in
            let time = try await store.set("c/d", ["n": .integer(0)]).commitTime
            for index in 1..<20 {
                let text = Value.string(String(repeating: "x", count: 300))
                try await store.set("c/d", ["n": .integer(Int64(index)), "text": text])
            }
            return time
        }
        let name = JournalSegment.name(first: SequenceNumber(1))
        var bytes = try fixture.folder.bytes(of: "data/journal/\(name)")
        bytes[200] ^= 1
        try fixture.folder.write(bytes, to: "data/journal/\(name)")
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d")
            let error = await expectStatus(.dataLoss) { try await store.document(at: path, readTime: time) }
            #expect(error?.message.contains("journal/\(name)") == true)
            #expect(try await store.document(at: path) != nil)
        }
    }
}
