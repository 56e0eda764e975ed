import DocumentModel
import DocumentStore
import FileStore
import TestSupport
import Testing
import UTF8Text

@Suite("Commits")
struct CommitTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `A created document has the commit time as create and update time`() async throws {
        try await fixture.withStore { store in
            #expect(try await store.document(at: DocumentPath("books/hitchhiker")) == nil)
            let result = try await store.set("books/hitchhiker", ["numberOfPages": .integer(816)])
            let document = try #require(try await store.document(at: DocumentPath("books/hitchhiker")))
            #expect(try document.decoded().fields == ["numberOfPages": .integer(816)])
            #expect(document.createTime == result.commitTime)
            #expect(document.updateTime == result.commitTime)
            #expect(result.sequence == SequenceNumber(1))
            #expect(result.writeResults == [WriteResult(updateTime: result.commitTime)])
        }
    }

    @Test
    func `Overwriting keeps the create time, recreating does not`() async throws {
        try await fixture.withStore { store in
            let created = try await store.set("c/d", ["n": .integer(1)]).commitTime
            let updated = try await store.set("c/d", ["n": .integer(2)]).commitTime
            let overwritten = try #require(try await store.document(at: DocumentPath("c/d")))
            #expect(overwritten.createTime == created && overwritten.updateTime == updated && created < updated)
            try await store.delete("c/d")
            let recreated = try await store.set("c/d", ["n": .integer(2)]).commitTime
            #expect(try await store.document(at: DocumentPath("c/d"))?.createTime == recreated)
        }
    }

    @Test
    func `Merges and updates change only the named fields`() async throws {
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d")
            try await store.set("c/d", ["a": .map(["x": .integer(1), "y": .integer(2)]), "b": .string("kept")])
            _ = try await store.commit([.set(path, ["a": .map(["x": .integer(9)])], merge: .all)])
            #expect(try await store.fields("c/d") == ["a": .map(["x": .integer(9), "y": .integer(2)]), "b": .string("kept")])
            _ = try await store.commit([.update(path, [(FieldPath("a.y"), .null)], delete: [FieldPath("a.x")])])
            #expect(try await store.fields("c/d") == ["a": .map(["y": .null]), "b": .string("kept")])
        }
    }

    @Test
    func `A write without a change adds no commit and keeps the update time`() async throws {
        try await fixture.withStore { store in
            let first = try await store.set("c/d", ["n": .integer(1)])
            let second = try await store.set("c/d", ["n": .integer(1)])
            #expect(second.sequence == nil)
            #expect(second.writeResults.first?.updateTime == first.commitTime)
            #expect(try await store.delete("c/none").sequence == nil)
            #expect(try await store.commit([]).sequence == nil)
            #expect(store.position.lastSequence == SequenceNumber(1))
        }
    }

    @Test
    func `The writes of a commit see each other and result in one change per document`() async throws {
        try await fixture.withStore { store in
            let path = try DocumentPath("c/d")
            let increment = FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(2)))
            let result = try await store.commit([
                .create(path, ["n": .integer(1)]),
                .set(path, [:], merge: .all, transforms: [increment]),
                .delete(path, precondition: .exists(true)),
                .create(path, ["n": .integer(5)]),
                .create(DocumentPath("c/gone"), [:]),
                .delete(DocumentPath("c/gone")),
            ])
            #expect(result.writeResults.count == 6)
            #expect(result.writeResults[1].transformResults == [.integer(3)])
            #expect(try await store.fields("c/d") == ["n": .integer(5)])
            let commit = try #require(try await store.firstCommits(1, after: .zero).first)
            #expect(commit.changes.map(\.path) == [path])
            #expect(commit.changes.first?.existedBefore == false)
        }
    }

    @Test
    func `A commit with a failing write changes nothing`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/there", ["n": .integer(1)])
            await expectStatus(.alreadyExists) {
                try await store.commit([.create(DocumentPath("c/new"), [:]), .create(DocumentPath("c/there"), [:])])
            }
            #expect(try await store.document(at: DocumentPath("c/new")) == nil)
            #expect(try fixture.folder.names(in: "data/documents/c") == ["there.json"])
            await expectStatus(.notFound) {
                try await store.commit([.update(DocumentPath("c/none"), [(FieldPath("n"), .null)])])
            }
            #expect(store.position.lastSequence == SequenceNumber(1))
        }
    }

    @Test
    func `A commit contains the before-images and after-images of its changes`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            try await store.set("c/d", ["n": .integer(2)])
            try await store.delete("c/d")
            let commits = try await store.firstCommits(3, after: .zero)
            let changes = commits.flatMap(\.changes)
            #expect(changes.map(\.existedBefore) == [false, true, true])
            #expect(try changes.map { try $0.before?.decoded().fields } == [nil, ["n": .integer(1)], ["n": .integer(2)]])
            #expect(try changes.map { try $0.after?.decoded().fields } == [["n": .integer(1)], ["n": .integer(2)], nil])
            #expect(commits.map(\.sequence.rawValue) == [1, 2, 3])
        }
    }

    @Test
    func `Commit times increase when the clock goes back or stands still`() async throws {
        var fixture = fixture
        let clock = SettableClock()
        fixture.configuration.now = { clock.now }
        let first = try await fixture.withStore { store in
            let first = try await store.set("c/a", [:]).commitTime
            let still = try await store.set("c/b", [:]).commitTime
            clock.advance(microseconds: -3_600_000_000)
            let back = try await store.set("c/c", [:]).commitTime
            #expect(first < still && still < back)
            return back
        }
        try await fixture.withStore { store in
            let afterRestart = try await store.set("c/d", [:]).commitTime
            #expect(afterRestart > first)
        }
    }

    @Test
    func `A closed store rejects commits`() async throws {
        let store = try await fixture.open()
        await store.close()
        await store.close()
        await expectStatus(.unavailable) { try await store.set("c/d", [:]) }
    }
}
