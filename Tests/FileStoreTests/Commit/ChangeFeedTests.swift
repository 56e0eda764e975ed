import DocumentModel
import DocumentStore
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("The change feed")
struct ChangeFeedTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `A watcher waits for the next commit`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let next = Task { try await store.firstCommits(1, after: SequenceNumber(1)) }
            try await store.set("c/b", [:])
            #expect(try await next.value.map(\.changes).first?.map(\.path.string) == ["c/b"])
        }
    }

    @Test
    func `A watcher after a commit that is being applied waits for the commit after it`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            store.components.feed.willApply(through: SequenceNumber(2))
            let count = Mutex(0)
            _ = store.notify(after: SequenceNumber(2)) { count.withLock { $0 += 1 } }
            let next = Task { try await store.firstCommits(1, after: SequenceNumber(2)) }
            try await store.set("c/b", [:])
            #expect(count.withLock { $0 } == 0)
            try await store.set("c/c", [:])
            #expect(count.withLock { $0 } == 1)
            #expect(try await next.value.map(\.sequence) == [SequenceNumber(3)])
        }
    }

    @Test(arguments: [0, 2_000, 1 << 20])
    func `Commits from memory and from the journal are equal except for before-images`(recentBytes: Int) async throws {
        var fixture = fixture
        fixture.configuration.recentBytes = recentBytes
        fixture.configuration.segmentBytes = 4 << 10
        try await fixture.withStore { store in
            for index in 0..<100 {
                try await store.set("c/d\(index % 10)", ["n": .integer(Int64(index))])
                if index % 10 == 9 { try await store.delete("c/d5") }
            }
            for start in stride(from: 0, to: 110, by: 7) {
                let commits = try await store.firstCommits(110 - start, after: SequenceNumber(UInt64(start)))
                #expect(commits.map(\.sequence.rawValue) == Array(UInt64(start + 1)...110))
                for commit in commits {
                    #expect(commit.changes.count == 1)
                    #expect(commit.changes.first?.after.map { $0.updateTime == commit.time } ?? true)
                    if commit.sequence.rawValue > 11 {
                        #expect(
                            commit.changes.first?.existedBefore
                                == (commit.changes.first?.path.id.key != "d5" || commit.changes.first?.after == nil)
                        )
                    }
                }
            }
        }
    }

    @Test(arguments: [0, 20_000, 1 << 20])
    func `Commits in memory are returned without waiting, and iteration continues from there`(recentBytes: Int) async throws {
        var fixture = fixture
        fixture.configuration.recentBytes = recentBytes
        fixture.configuration.segmentBytes = 4 << 10
        try await fixture.withStore { store in
            for index in 0..<100 { try await store.set("c/d", ["n": .integer(Int64(index))]) }
            var commits = store.commits(after: .zero).makeAsyncIterator()
            var sequences: [UInt64] = []
            var isFromMemory: [Bool] = []
            while sequences.last != 100 {
                let commit = commits.nextInMemory()
                isFromMemory.append(commit != nil)
                let next = if let commit { commit } else { try await commits.next() }
                sequences.append(try #require(next).sequence.rawValue)
            }
            #expect(sequences == Array(1...100))
            #expect(isFromMemory.first == (recentBytes == 1 << 20))
            if isFromMemory[0] { #expect(!isFromMemory.contains(false)) }
            #expect(commits.nextInMemory() == nil)
            try await store.set("c/d", ["n": .string("last")])
            #expect(try await commits.next()?.sequence == SequenceNumber(101))
        }
    }

    @Test(arguments: [0, 20_000])
    func `Many watchers, some slow, see all commits of many writers in order`(recentBytes: Int) async throws {
        var fixture = fixture
        fixture.configuration.recentBytes = recentBytes
        fixture.configuration.segmentBytes = 16 << 10
        try await fixture.withStore { store in
            let (writers, each) = (8, 50)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for watcher in 0..<12 {
                    group.addTask {
                        var count: UInt64 = 0
                        for try await commit in store.commits(after: .zero) {
                            count += 1
                            #expect(commit.sequence.rawValue == count)
                            if watcher.isMultiple(of: 3) { await Task.yield() }
                            if count == UInt64(writers * each) { break }
                        }
                    }
                }
                for writer in 0..<writers {
                    group.addTask {
                        for index in 0..<each { try await store.set("c/d\(writer)", ["n": .integer(Int64(index))]) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `A published commit is visible`() async throws {
        try await fixture.withStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for index in 0..<100 { try await store.set("c/d\(index)", ["n": .integer(Int64(index))]) }
                }
                group.addTask {
                    for commit in try await store.firstCommits(100, after: .zero) {
                        for change in commit.changes {
                            #expect(try await store.document(at: change.path) == change.after)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `A safe position includes every commit that a read returned, under concurrent writes`() async throws {
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d")
            try await store.set("c/d", [:])
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for index in 0..<200 { try await store.set("c/d", ["n": .integer(Int64(index))]) }
                }
                group.addTask {
                    for _ in 0..<200 {
                        let document = try #require(try await store.document(at: path))
                        let position = try await store.safePosition()
                        #expect(try #require(position.lastCommitTime) >= document.updateTime)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `A safe position waits for commits that are being applied`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            store.components.feed.willApply(through: SequenceNumber(2))
            let waiting = Task { try await store.safePosition() }
            await Task.yield()
            try await store.set("c/d", ["n": .integer(1)])
            #expect(try await waiting.value.lastSequence == SequenceNumber(2))
            store.components.feed.willApply(through: SequenceNumber(3))
            let cancelled = Task { try await store.safePosition() }
            cancelled.cancel()
            await expectStatus(.cancelled) { try await cancelled.value }
        }
    }

    @Test
    func `A position in the future is out of range`() async throws {
        try await fixture.withStore { store in
            await expectStatus(.outOfRange) { try await store.firstCommits(1, after: SequenceNumber(1)) }
        }
    }

    @Test
    func `Cancelling ends a waiting watcher`() async throws {
        try await fixture.withStore { store throws in
            for _ in 0..<50 {
                let watcher = Task { try await store.firstCommits(1, after: .zero) }
                await Task.yield()
                watcher.cancel()
                #expect(try await watcher.value.isEmpty)
            }
        }
    }

    @Test
    func `Closing the store ends its watchers`() async throws {
        let store = try await fixture.open()
        try await store.set("c/d", [:])
        let watcher = Task { try await store.firstCommits(5, after: .zero) }
        _ = try await store.firstCommits(1, after: .zero)
        await store.close()
        #expect(try await watcher.value.count <= 1)
    }

    @Test
    func `Segments are removed by age, except the last one`() async throws {
        var fixture = fixture
        // Files have modification times of the system clock.
        let clock = SettableClock(.current())
        fixture.configuration.now = { clock.now }
        fixture.configuration.segmentBytes = 4 << 10
        fixture.configuration.retentionAge = .seconds(3_600)
        let text = Value.string(String(repeating: "x", count: 1_000))
        func write(_ id: String) async throws -> StorePosition {
            try await fixture.withStore { store in
                for index in 0..<10 { try await store.set("c/\(id)\(index)", ["text": text]) }
            }
            return try await fixture.withStore { $0.position }
        }
        #expect(try await write("a").oldestRetained == SequenceNumber(1))
        clock.advance(microseconds: 3_000_000_000)
        #expect(try await write("b").oldestRetained == SequenceNumber(1))
        // Much longer than the writes can have taken.
        clock.advance(microseconds: 100_000_000_000)
        let position = try await write("c")
        #expect(position.oldestRetained > SequenceNumber(20) && position.oldestRetained <= SequenceNumber(30))
        #expect(try fixture.folder.segments(in: "data").count == 1)
    }

    @Test
    func `Segments are removed by size, their commits are out of range, and the rest has no gaps`() async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 8 << 10
        fixture.configuration.retentionBytes = 32 << 10
        fixture.configuration.checkpointBytes = 16 << 10
        fixture.configuration.recentBytes = 0
        try await fixture.withStore { store in
            let text = Value.string(String(repeating: "x", count: 300))
            for index in 0..<300 { try await store.set("c/d\(index % 20)", ["n": .integer(Int64(index)), "text": text]) }
        }
        try await fixture.withStore { store in
            let position = store.position
            #expect(position.oldestRetained > SequenceNumber(1) && position.lastSequence == SequenceNumber(300))
            let kept = try await store.firstCommits(
                Int(301 - position.oldestRetained.rawValue),
                after: SequenceNumber(position.oldestRetained.rawValue - 1)
            )
            #expect(kept.map(\.sequence.rawValue) == Array(position.oldestRetained.rawValue...300))
            let error = await expectStatus(.outOfRange) {
                try await store.firstCommits(1, after: SequenceNumber(position.oldestRetained.rawValue - 2))
            }
            #expect(error != nil)
        }
        let bytes = try fixture.folder.contents(of: "data/journal").values.reduce(0) { $0 + $1.count }
        #expect(bytes <= 40 << 10)
    }
}
