import DocumentModel
import DocumentStore
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Replacing damaged files")
struct ReplacedDamageTests {
    private let fixture: StoreFixture
    private let path: DocumentPath
    private let file = "data/documents/c/d.json"

    init() throws {
        fixture = try StoreFixture()
        path = try DocumentPath("c/d")
    }

    /// Returns a read set with the damaged file and the last version of the document.
    private func readSet(in store: FileStore) async throws -> ReadSet {
        var reads = ReadSet()
        let version = try await store.history(of: path, before: nil, limit: 1).versions.first?.document
        let contents = try #require(try await store.contents(of: path))
        reads.permitOverwriting(DamagedFileSnapshot(contents: contents, lastVersion: version), at: path)
        return reads
    }

    @Test(arguments: [1, 2, 3] as [Int64])
    func `Other readers see the last version until the file is replaced`(number: Int64) async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            let last = try await store.set("c/d", ["n": .integer(2)])
            let before = try await store.document(at: path)
            try fixture.folder.write("{", to: file)
            let write = Write(path: path, operation: .replace(["n": .integer(number)]))
            let result = try await store.commit([write], validating: try await readSet(in: store), by: nil)
            #expect(result.writeResults.map(\.updateTime) == [result.commitTime])
            let document = try #require(try await store.document(at: path))
            #expect(try document.decoded().fields == ["n": .integer(number)])
            #expect(document.createTime == before?.createTime)
            #expect(document.updateTime == result.commitTime)
            let change = try await store.firstCommits(1, after: SequenceNumber(2)).first?.changes.first
            #expect(change == CommittedChange(path: path, before: before, after: document, existedBefore: true))
            #expect(try await store.document(at: path, readTime: last.commitTime) == before)
            #expect(try await store.history(of: path, before: nil, limit: 10).versions.count == 3)
            try await store.set("c/d", [:])
        }
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test(arguments: ["[", "{\"n\": 1}", nil])
    func `A file that was changed or removed meanwhile is not replaced`(contents: String?) async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            try fixture.folder.write("{", to: file)
            let reads = try await readSet(in: store)
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

    @Test
    func `Replacing a damaged file requires its snapshot in the read set`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            try fixture.folder.write("{", to: file)
            let stale = Write(path: path, operation: .replace([:]), precondition: .exists(false))
            let reads = try await readSet(in: store)
            await expectStatus(.alreadyExists) { try await store.commit([stale], validating: reads, by: nil) }
            await expectStatus(.dataLoss) { try await store.set("c/d", [:]) }
            #expect(try fixture.folder.text(of: file) == "{")
        }
    }

    @Test
    func `A damaged file in place of a deleted document is replaced by a create`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", [:])
            try await store.delete("c/d")
            try fixture.folder.write("{", to: file)
            let write = Write(path: path, operation: .replace([:]), precondition: .exists(false))
            let result = try await store.commit([write], validating: try await readSet(in: store), by: nil)
            #expect(try await store.document(at: path)?.createTime == result.commitTime)
        }
    }
}
