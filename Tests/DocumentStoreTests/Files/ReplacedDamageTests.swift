import DocumentModel
import StrictJSON
import TestSupport
import Testing

@testable import DocumentStore

@Suite("A damaged file is replaced by who has seen what is in it")
struct ReplacedDamageTests {
    private let fixture: StoreFixture
    private let path: DocumentPath
    private let file = "data/documents/c/d.json"

    init() throws {
        fixture = try StoreFixture()
        path = try DocumentPath("c/d")
    }

    /// What was seen of the file, and the last version of the document.
    private func seen(in store: FileStore) async throws -> ReadSet {
        var reads = ReadSet()
        let version = try await store.history(of: path, before: nil, limit: 1).versions.first?.document
        let contents = try #require(try await store.file(of: path))
        reads.note(SeenDamage(file: contents, lastVersion: version), at: path)
        return reads
    }

    @Test("To everybody else the document was its last version until then", arguments: [1, 2, 3] as [Int64])
    func replaced(number: Int64) async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            let last = try await store.set("c/d", ["n": .integer(2)])
            let before = try await store.document(at: path)
            try fixture.folder.write("{", to: file)
            let write = Write(path: path, operation: .replace(["n": .integer(number)]))
            let result = try await store.commit([write], validating: try await seen(in: store), by: nil)
            #expect(result.writeResults.map(\.updateTime) == [result.commitTime])
            let document = try #require(try await store.document(at: path))
            #expect(try document.decoded().fields == ["n": .integer(number)])
            #expect(document.createTime == before?.createTime)
            #expect(document.updateTime == result.commitTime)
            let change = try await store.take(1, after: SequenceNumber(2)).first?.changes.first
            #expect(change == DocumentChange(path: path, before: before, after: document, existedBefore: true))
            #expect(try await store.document(at: path, readTime: last.commitTime) == before)
            #expect(try await store.history(of: path, before: nil, limit: 10).versions.count == 3)
            try await store.set("c/d", [:])
        }
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test("A file that is another by now, or none, is left as it is", arguments: ["[", "{\"n\": 1}", nil])
    func changed(contents: String?) async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            try fixture.folder.write("{", to: file)
            let reads = try await seen(in: store)
            if let contents {
                try fixture.folder.write(contents, to: file)
            } else {
                try fixture.folder.remove(file)
            }
            let write = Write(path: path, operation: .replace(["n": .integer(1)]))
            await expectStatus(.failedPrecondition) { try await store.commit([write], validating: reads, by: nil) }
            if let contents { #expect(try fixture.folder.text(of: file) == contents) }
            #expect(store.position.lastSequence == SequenceNumber(1))
        }
    }

    @Test("Who has seen another document's file, or none, is refused as ever")
    func unseen() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            try fixture.folder.write("{", to: file)
            let stale = Write(path: path, operation: .replace([:]), precondition: .exists(false))
            let reads = try await seen(in: store)
            await expectStatus(.alreadyExists) { try await store.commit([stale], validating: reads, by: nil) }
            await expectStatus(.dataLoss) { try await store.set("c/d", [:]) }
            #expect(try fixture.folder.text(of: file) == "{")
        }
    }

    @Test("A document that was deleted before somebody put a damaged file there is created")
    func created() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            try await store.delete("c/d")
            try fixture.folder.write("{", to: file)
            let write = Write(path: path, operation: .replace([:]), precondition: .exists(false))
            let result = try await store.commit([write], validating: try await seen(in: store), by: nil)
            #expect(try await store.document(at: path)?.createTime == result.commitTime)
        }
    }
}
