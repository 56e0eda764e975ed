import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Texts of edited files that are left as they are", .timeLimit(.minutes(10)))
struct KeptTextTests {
    private var fixture: StoreFixture
    private var folder: TemporaryFolder { fixture.folder }
    private static let file = "data/documents/c/a.json"
    /// In another form than the store's.
    private static let text = "{ \"n\" : 2,\n\t\"list\": [1,   2] }"

    init() throws {
        fixture = try StoreFixture()
        fixture.configuration.takesFolderEdits = true
        fixture.configuration.folderEditQuietTime = .milliseconds(20)
        fixture.configuration.keepsFolderEditTexts = true
    }

    private func commit(after sequence: UInt64, _ store: FileStore) async throws -> Commit {
        try #require(try await store.firstCommits(1, after: SequenceNumber(sequence)).first)
    }

    /// Saves a file as most editors do, and returns the commit.
    private func save(_ text: String, after sequence: UInt64, _ store: FileStore) async throws -> Commit {
        try folder.write(text, to: "new")
        try #require(rename(folder["new"], folder[Self.file]) == 0)
        return try await commit(after: sequence, store)
    }

    @Test func `The file keeps its text, while reads, lists and queries have the document with the times of the commit`()
        async throws
    {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let commit = try await save(Self.text, after: 1, store)
            let document = try #require(commit.changes.first?.after)
            #expect(try document.decoded().fields == ["n": .integer(2), "list": .array([.integer(1), .integer(2)])])
            #expect(try await store.document(at: DocumentPath("c/a")) == document)
            let listed = try await store.list("c").documents
            #expect(listed.count == 1)
            if case .document(let first)? = listed.first { #expect(first == document) }
            let query = StructuredQuery(
                .collection(try CollectionPath("c")),
                where: .field(try FieldPath("n"), .equal(.integer(2)))
            )
            let result = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            #expect(result.documents == [document])
            // Without the cache, too.
            store.components.cache.removeAll()
            #expect(try await store.document(at: DocumentPath("c/a")) == document)
            #expect(try folder.text(of: Self.file) == Self.text && store.problemCount == 0)
        }
        // A store that is closed has all documents in its form.
        #expect(try folder.text(of: Self.file).contains("updateTime"))
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test func `The next commit by a call writes the file, and its precondition is the time of the edit`() async throws {
        try await fixture.withStore { store in
            let creation = try await store.set("c/a", ["n": .integer(1)])
            let edit = try await save(Self.text, after: 1, store)
            let path = try DocumentPath("c/a")
            let time = try #require(creation.writeResults.first?.updateTime)
            await expectStatus(.failedPrecondition) {
                try await store.commit([.set(path, [:], precondition: .updateTime(time))])
            }
            _ = try await store.commit([.set(path, ["n": .integer(3)], precondition: .updateTime(edit.time))])
            #expect(try await store.fields("c/a") == ["n": .integer(3)])
            #expect(try folder.text(of: Self.file).contains("\"n\": 3"))
            #expect(try folder.names(in: "data/documents/c") == ["a.json"])
        }
    }

    @Test func `Edits of a text that was kept follow it, although it states an earlier time`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let first = try folder.text(of: Self.file)
            for number in 2...4 {
                let text = first.replacing("\"n\": 1", with: "\"n\":  \(number)")
                let commit = try await save(text, after: UInt64(number - 1), store)
                #expect(try commit.changes.first?.after?.decoded().fields == ["n": .integer(Int64(number))])
                #expect(try folder.text(of: Self.file) == text)
            }
            #expect(store.problemCount == 0)
            try folder.remove(Self.file)
            #expect(try await commit(after: 4, store).changes.first?.after == nil)
            #expect(try await store.fields("c/a") == nil)
        }
    }

    @Test func `A call takes an edit of a kept text first`() async throws {
        var fixture = fixture
        fixture.configuration.folderEditQuietTime = .seconds(3_600)
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            for (number, text) in [(2, "{\"n\":2}"), (3, "{\"n\":3}")] {
                try folder.write(text, to: Self.file)
                // Changes nothing itself.
                try await store.set("c/a", ["n": .integer(Int64(number))])
                #expect(try await store.fields("c/a") == ["n": .integer(Int64(number))])
            }
            try folder.write("{\"n\":5}", to: Self.file)
            try await store.set("c/a", ["m": .integer(6)])
            let values = try await store.firstCommits(Int(store.position.lastSequence.rawValue), after: .zero).map {
                try $0.changes.first?.after?.decoded().fields["n"]
            }
            #expect(values.suffix(2) == [.integer(5), nil])
        }
    }

    @Test(arguments: [false, true])
    func `After a crash, the document is that of the commit, and an edit that was made just before is taken`(
        isCheckpointed: Bool
    ) async throws {
        let later = "{ \"n\" : 3}"
        var fixture = fixture
        if isCheckpointed { fixture.configuration.checkpointDocuments = 1 }
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let stated = try folder.text(of: Self.file).replacing("\"n\": 1", with: "\"n\":  2")
            _ = try await save(stated, after: 1, store)
            while isCheckpointed, !store.data.manifest.hasQuarantinedDocuments { try await Task.sleep(for: .milliseconds(5)) }
            #expect(try folder.text(of: Self.file) == stated)
            try folder.copy("data", to: "crashed")
            try folder.copy("data", to: "edited")
        }
        for (name, value) in [("crashed", 2), ("edited", 3)] {
            if name == "edited" { try folder.write(later, to: "edited/documents/c/a.json") }
            // A check tells them from damage.
            let (report, findings) = try await fixture.check(name)
            let kind = name == "edited" ? CheckFinding.Kind.edited : .keptText
            #expect(findings.map(\.kind) == (isCheckpointed ? [kind, .notClosed] : [.notClosed]))
            #expect(report.findings == 1 && report.keptTexts == (isCheckpointed && kind == .keptText ? 1 : 0))
            fixture.configuration.folder = folder[name]
            try await fixture.withStore(at: name) { store in
                // Until it is taken, an edit without times cannot be read.
                while (try? await store.fields("c/a"))?["n"] != .integer(Int64(value)) {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(try folder.names(in: "\(name)/documents/c") == ["a.json"])
            }
            #expect(try await fixture.check(name).findings.isEmpty)
        }
    }

    @Test(arguments: [false, true])
    func `A crash in the middle of a commit over kept texts leaves the commit, also if it deletes`(deletes: Bool) async throws {
        // Without times, so that the text tells nothing.
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            _ = try await save(Self.text, after: 1, store)
            try folder.copy("data/documents", to: "texts")
            if deletes { try await store.delete("c/a") } else { try await store.set("c/a", ["n": .integer(3)]) }
            // As before the file of the durable commit was written.
            try folder.copy("data", to: "crashed")
            try folder.remove("crashed/documents")
            try folder.copy("texts", to: "crashed/documents")
        }
        try await fixture.withStore(at: "crashed") { store async throws in
            #expect(try await store.fields("c/a") == (deletes ? nil : ["n": .integer(3)]))
            #expect(store.position.lastSequence == SequenceNumber(3))
        }
        #expect(try await fixture.check("crashed").findings.isEmpty)
    }

    @Test func `Edits of one text are merged with the calls between them`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["f": .integer(0), "n": .integer(0)])
            let first = try folder.text(of: Self.file)
            _ = try await save(first.replacing("\"f\": 0", with: "\"f\": 1"), after: 1, store)
            try await store.set("c/a", ["f": .integer(1), "n": .integer(1)])
            _ = try await save(first.replacing("\"f\": 0", with: "\"f\": 2"), after: 3, store)
            #expect(try await store.fields("c/a") == ["f": .integer(2), "n": .integer(1)])
        }
    }

    @Test func `A checkpoint stores the texts that are kept now, also if they are as many as before`() async throws {
        var fixture = fixture
        fixture.configuration.checkpointDocuments = 2
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            _ = try await save(Self.text, after: 1, store)
            func isStored(_ path: String) -> Bool {
                (try? folder.text(of: "data/waiting.ndjson"))?.contains("\"\(path)\"") == true
            }
            while !isStored("c/a") { try await Task.sleep(for: .milliseconds(5)) }
            try await store.delete("c/a")
            try folder.write(Self.text, to: "data/documents/c/b.json")
            _ = try await commit(after: 3, store)
            while !isStored("c/b") { try await Task.sleep(for: .milliseconds(5)) }
            try folder.copy("data", to: "crashed")
        }
        try await fixture.withStore(at: "crashed") { store async throws in
            #expect(try await store.fields("c/a") == nil)
            #expect(try await store.fields("c/b")?["n"] == .integer(2))
        }
    }

    @Test func `A backup has the document in the store's form`() async throws {
        let backups = try BackupFixture()
        var store = backups.store
        store.configuration.takesFolderEdits = true
        store.configuration.folderEditQuietTime = .milliseconds(20)
        store.configuration.keepsFolderEditTexts = true
        let host = try await backups.open(store)
        _ = try await host.defaultStore.set("c/a", ["n": .integer(1)])
        try store.folder.write(Self.text, to: Self.file)
        let commit = try #require(try await host.defaultStore.firstCommits(1, after: SequenceNumber(1)).first)
        let backup = try await backups.makeBackup(of: host)
        #expect(try store.folder.text(of: Self.file) == Self.text)
        await host.close()
        #expect(try await backups.documents(in: "backups/\(backup.name)").values.first == commit.changes.first?.after)
        #expect(try store.folder.text(of: "backups/\(backup.name)/documents/c/a.json").contains(commit.time.rfc3339))
        #expect(try await store.check("backups/\(backup.name)").findings.isEmpty)
    }
}
