import DocumentModel
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite("Watchers get every commit")
struct ChangeFeedTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test("A watcher waits for the next commit")
    func waits() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            let next = Task { try await store.take(1, after: SequenceNumber(1)) }
            try await store.set("c/b", [:])
            #expect(try await next.value.map(\.changes).first?.map(\.path.string) == ["c/b"])
        }
    }

    @Test("From memory or from the journal, the commits are the same but for what was before", arguments: [0, 2_000, 1 << 20])
    func memoryAndJournal(recentBytes: Int) async throws {
        var fixture = fixture
        fixture.configuration.recentBytes = recentBytes
        fixture.configuration.segmentBytes = 4 << 10
        try await fixture.withStore { store in
            for index in 0..<100 {
                try await store.set("c/d\(index % 10)", ["n": .integer(Int64(index))])
                if index % 10 == 9 { try await store.delete("c/d5") }
            }
            for start in stride(from: 0, to: 110, by: 7) {
                let commits = try await store.take(110 - start, after: SequenceNumber(UInt64(start)))
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

    @Test("What is in memory is given at once, and the rest goes on from there", arguments: [0, 20_000, 1 << 20])
    func atOnce(recentBytes: Int) async throws {
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

    @Test("Many watchers, some slow, see all commits of many writers in order", arguments: [0, 20_000])
    func concurrent(recentBytes: Int) async throws {
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

    @Test("A commit that a watcher was told of is visible")
    func visible() async throws {
        try await fixture.withStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for index in 0..<100 { try await store.set("c/d\(index)", ["n": .integer(Int64(index))]) }
                }
                group.addTask {
                    for commit in try await store.take(100, after: .zero) {
                        for change in commit.changes {
                            #expect(try await store.document(at: change.path) == change.after)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A settled position includes every commit that a read has shown, while many are written")
    func settled() async throws {
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
                        let position = try await store.settledPosition()
                        #expect(try #require(position.lastCommitTime) >= document.updateTime)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("A position that is being installed is waited for")
    func settling() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            store.parts.feed.willInstall(through: SequenceNumber(2))
            let settled = Task { try await store.settledPosition() }
            await Task.yield()
            try await store.set("c/d", ["n": .integer(1)])
            #expect(try await settled.value.lastSequence == SequenceNumber(2))
            store.parts.feed.willInstall(through: SequenceNumber(3))
            let cancelled = Task { try await store.settledPosition() }
            cancelled.cancel()
            await expectStatus(.cancelled) { try await cancelled.value }
        }
    }

    @Test("A position in the future is out of range")
    func future() async throws {
        try await fixture.withStore { store in
            await expectStatus(.outOfRange) { try await store.take(1, after: SequenceNumber(1)) }
        }
    }

    @Test("Cancelling ends a waiting watcher")
    func cancelled() async throws {
        try await fixture.withStore { store throws in
            for _ in 0..<50 {
                let watcher = Task { try await store.take(1, after: .zero) }
                await Task.yield()
                watcher.cancel()
                #expect(try await watcher.value.isEmpty)
            }
        }
    }

    @Test("Closing the store ends its watchers")
    func closed() async throws {
        let store = try await fixture.open()
        try await store.set("c/d", [:])
        let watcher = Task { try await store.take(5, after: .zero) }
        _ = try await store.take(1, after: .zero)
        await store.close()
        #expect(try await watcher.value.count <= 1)
    }

    @Test("Old segments go by age, but not the last one")
    func age() async throws {
        var fixture = fixture
        // Files have the time of the system's clock.
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
        #expect(try await write("a").oldestKept == SequenceNumber(1))
        clock.advance(microseconds: 3_000_000_000)
        #expect(try await write("b").oldestKept == SequenceNumber(1))
        // So much that it does not matter how long writing has taken.
        clock.advance(microseconds: 100_000_000_000)
        let position = try await write("c")
        #expect(position.oldestKept > SequenceNumber(20) && position.oldestKept <= SequenceNumber(30))
        #expect(try fixture.folder.names(in: "data/journal").count == 1)
    }

    @Test("Old segments go by size, and what was in them is out of range; nothing in between is missing")
    func retention() async throws {
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
            #expect(position.oldestKept > SequenceNumber(1) && position.lastSequence == SequenceNumber(300))
            let kept = try await store.take(
                Int(301 - position.oldestKept.rawValue),
                after: SequenceNumber(position.oldestKept.rawValue - 1)
            )
            #expect(kept.map(\.sequence.rawValue) == Array(position.oldestKept.rawValue...300))
            let error = await expectStatus(.outOfRange) {
                try await store.take(1, after: SequenceNumber(position.oldestKept.rawValue - 2))
            }
            #expect(error != nil)
        }
        let bytes = try fixture.folder.contents(of: "data/journal").values.reduce(0) { $0 + $1.count }
        #expect(bytes <= 40 << 10)
    }
}
