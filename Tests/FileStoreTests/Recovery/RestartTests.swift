import DocumentModel
import DocumentStore
import FileStore
import TestSupport
import Testing
import UTF8Text

@Suite("Reopening a closed store")
struct RestartTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Documents, sequence numbers, epoch and history are kept`() async throws {
        let (position, last) = try await fixture.withStore { store in
            for index in 0..<10 { try await store.set("c/d\(index)", ["n": .integer(Int64(index))]) }
            let last = try await store.set("c/last", [:]).commitTime
            return (store.position, last)
        }
        try await fixture.withStore { store in
            #expect(store.position == position)
            #expect(position.lastSequence == SequenceNumber(11) && position.lastCommitTime == last)
            #expect(try await store.list("c").ids.count == 11)
            #expect(try await store.firstCommits(11, after: .zero).map(\.sequence.rawValue) == Array(1...11))
            let next = try await store.set("c/next", [:])
            #expect(next.sequence == SequenceNumber(12) && next.commitTime > last)
        }
    }

    @Test(arguments: [true, false])
    func `A journal in the previous format version is read, and continued in a new segment`(isClosed: Bool) async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            if !isClosed { try fixture.folder.copy("data", to: "copy") }
        }
        let data = isClosed ? "data" : "copy"
        let old = "\(data)/journal/00000000000000000001.journal"
        var bytes = try fixture.folder.bytes(of: old)
        // The version, which the header's checksum does not cover.
        bytes[8] = 2
        try fixture.folder.write(bytes, to: old)
        for author in ["k1", "k2"] {
            try await fixture.withStore(at: data) { store in
                let write = Write(path: try DocumentPath("c/d"), operation: .replace(["by": .string(author)]))
                _ = try await store.commit([write], validating: ReadSet(), by: CommitAuthor(keyID: UTF8Key(author)))
            }
        }
        try await fixture.withStore(at: data) { store in
            let versions = try await store.history(of: DocumentPath("c/d"), before: nil, limit: 10).versions
            #expect(versions.map(\.author) == [UTF8Key("k2"), UTF8Key("k1"), nil])
        }
        #expect(try fixture.folder.bytes(of: old).prefix(9) == bytes.prefix(9))
        #expect(try fixture.folder.bytes(of: old).count <= bytes.count)
        let segments = try fixture.folder.segments(in: "\(data)")
        #expect(segments == ["00000000000000000001.journal", "00000000000000000002.journal"])
    }

    @Test
    func `Without its journal, sequence numbers and times continue, and earlier commits are out of range`() async throws {
        let (position, last) = try await fixture.withStore { store in
            for index in 0..<10 { try await store.set("c/d\(index)", [:]) }
            let last = try await store.set("c/last", [:]).commitTime
            return (store.position, last)
        }
        try fixture.folder.remove("data/journal")
        try await fixture.withStore { store in
            #expect(store.position.epoch == position.epoch)
            #expect(store.position.lastSequence == position.lastSequence)
            #expect(!store.position.canResume(after: SequenceNumber(10)) && store.position.canResume(after: SequenceNumber(11)))
            let next = try await store.set("c/next", [:])
            #expect(next.sequence == SequenceNumber(12) && next.commitTime > last)
            #expect(try await store.firstCommits(1, after: SequenceNumber(11)).first?.sequence == SequenceNumber(12))
            await expectStatus(.outOfRange) { try await store.firstCommits(1, after: SequenceNumber(10)) }
        }
    }

    @Test
    func `A new segment without records is not damage, and is appended to`() async throws {
        try await fixture.withStore { store in _ = try await store.set("c/d", [:]) }
        let description = try fixture.folder.text(of: "data/hearth.json")
        let index = try fixture.folder.bytes(of: "data/index.sqlite")
        try fixture.folder.remove("data/journal")
        try await fixture.withStore { store in _ = try await store.set("c/e", [:]) }
        let segment = "data/journal/" + (try #require(try fixture.folder.segments(in: "data").first))
        try fixture.folder.write(Array(try fixture.folder.bytes(of: segment).prefix(64)), to: segment)
        try fixture.folder.write(description, to: "data/hearth.json")
        try fixture.folder.write(index, to: "data/index.sqlite")
        try fixture.folder.remove("data/documents/c/e.json")
        #expect(try await fixture.check().findings.isEmpty)
        try await fixture.withStore { store throws in
            #expect(try await store.set("c/e", [:]).sequence == SequenceNumber(2))
            #expect(try await store.firstCommits(1, after: SequenceNumber(1)).count == 1)
        }
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test
    func `Closing truncates the preallocated segment`() async throws {
        try await fixture.withStore { store in _ = try await store.set("c/d", [:]) }
        let segment = try #require(try fixture.folder.segments(in: "data").first)
        #expect(try fixture.folder.bytes(of: "data/journal/\(segment)").count < 1_024)
        #expect(try fixture.folder.segments(in: "data").count == 1)
    }

    @Test
    func `A copy of a closed store's documents and hearth.json is a complete backup`() async throws {
        try await fixture.withStore { store in
            for index in 0..<10 { try await store.set("c/d\(index)/s/x", ["n": .integer(Int64(index))]) }
        }
        try fixture.folder.copy("data/documents", to: "copy/documents")
        try fixture.folder.copy("data/hearth.json", to: "copy/hearth.json")
        try await fixture.withStore(at: "copy") { store throws in
            #expect(try await store.list("c", includingMissing: true).ids.count == 10)
        }
    }

    @Test
    func `Opening and closing without writing changes nothing`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            try await store.waitUntilIndexed()
        }
        let before = try fixture.folder.contents(of: "data")
        for _ in 0..<3 { try await fixture.withStore { store in #expect(store.position.lastSequence == SequenceNumber(1)) } }
        #expect(try fixture.folder.contents(of: "data") == before)
    }
}
