import DocumentModel
import DocumentStore
import Foundation
import StorageIO
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Recovery of files to which commits were not applied", .tags(.crash), .timeLimit(.minutes(10)))
struct ReplacedVersionTests {
    private var fixture: StoreFixture
    private var folder: TemporaryFolder { fixture.folder }
    private static let file = "data/documents/c/a.json"

    init() throws {
        fixture = try StoreFixture()
        fixture.configuration.takesFolderEdits = true
        fixture.configuration.folderEditQuietTime = .milliseconds(20)
    }

    /// Copies a folder with the times of its files, whose status is changed now.
    private func copy(_ relative: String, to other: String) throws {
        for attempt in 1...10 {
            if try ChildProcess.run("/bin/cp", ["-a", folder[relative], folder[other]]) == .code(0) { return }
            // The index of an open store removes temporary files.
            try #require(attempt < 10)
            try folder.remove(other)
        }
    }

    /// Makes of the folder "earlier" one with the present journal, and with files to which no commit since has been applied. It counts as the
    /// folder of the store itself.
    private func crash() throws {
        try copy("earlier", to: "crashed")
        try folder.remove("crashed/journal")
        try copy("data/journal", to: "crashed/journal")
        let root = try FileDescriptor.folder(atPath: folder["crashed"])
        var manifest = try #require(try DataFolder.readManifest(in: root))
        manifest.datedFiles?.folder = try #require(try root.status(of: DataFolder.documentsName)).identity.inode
        manifest.isClean = false
        try DataFolder.write(manifest, in: root)
    }

    /// Waits until all edits that were found after the start are commits.
    private func waitForEdits(_ store: FileStore) async {
        while store.folderEdits?.state.withLock({ $0.uncommittedSince(start: 0) }) != nil {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Makes the folder "crashed", where the second commit of a document was not applied to its file.
    private func crashBeforeSecondCommit() async throws {
        try await fixture.withStore { store async throws in
            try await store.set("c/a", ["n": .integer(1), "m": .integer(1)])
            try copy("data", to: "earlier")
            try await store.set("c/a", ["n": .integer(1), "m": .integer(2)])
            try crash()
        }
    }

    @Test(arguments: [false, true])
    func `They are brought to the last commit as a whole, although their status has changed since`(
        isCheckpointed: Bool
    ) async throws {
        var first = fixture
        first.configuration.folderEditQuietTime = .seconds(3_600)
        // After it, the journal does not have the versions that the next commits replace.
        if isCheckpointed { first.configuration.checkpointDocuments = 1 }
        try await first.withStore { store async throws in
            func write(_ name: String, _ value: Int64?) throws -> Write {
                Write(path: try DocumentPath("c/\(name)"), operation: value.map { .replace(["n": .integer($0)]) } ?? .delete)
            }
            _ = try await store.commit([write("a", 1), write("b", 1), write("deleted", 1)])
            if isCheckpointed { await store.waitForCheckpoint() }
            try copy("data", to: "earlier")
            _ = try await store.commit([write("a", 2), write("b", 2), write("deleted", nil), write("new", 2)])
            try await store.set("c/a", ["n": .integer(3)])
            try crash()
        }
        try await fixture.withStore(at: "crashed") { store async throws in
            await waitForEdits(store)
            #expect(store.position.lastSequence == SequenceNumber(3) && store.problemCount == 0)
            let expected: [(String, Int64?)] = [("a", 3), ("b", 2), ("deleted", nil), ("new", 2)]
            for (name, value) in expected {
                #expect(try await store.fields("c/\(name)")?["n"] == value.map { .integer($0) }, "\(name)")
            }
        }
        #expect(try await fixture.check("crashed").findings.isEmpty)
    }

    @Test(arguments: [false, true], [false, true])
    func `So are files that keep the texts of edits`(statesTimes: Bool, deletes: Bool) async throws {
        var first = fixture
        first.configuration.keepsFolderEditTexts = true
        try await first.withStore { store async throws in
            try await store.set("c/a", ["n": .integer(1)])
            let text = try folder.text(of: Self.file).replacing("\"n\": 1", with: "\"n\":  2")
            try folder.write(statesTimes ? text : "{\"n\":  2}", to: Self.file)
            _ = try await store.firstCommits(2, after: .zero)
            try copy("data", to: "earlier")
            if deletes { try await store.delete("c/a") } else { try await store.set("c/a", ["n": .integer(3)]) }
            try crash()
        }
        try await fixture.withStore(at: "crashed") { store async throws in
            await waitForEdits(store)
            #expect(store.position.lastSequence == SequenceNumber(3) && store.problemCount == 0)
            #expect(try await store.fields("c/a") == (deletes ? nil : ["n": .integer(3)]))
        }
        #expect(try await fixture.check("crashed").findings.isEmpty)
    }

    @Test
    func `A text that no replayed commit has replaced is an edit, although its times are older`() async throws {
        try await crashBeforeSecondCommit()
        let file = "crashed/documents/c/a.json"
        try folder.write(folder.text(of: file).replacing("\"n\": 1", with: "\"n\": 5"), to: file)
        let old = Date(timeIntervalSince1970: 1_000_000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: folder[file])
        try await fixture.withStore(at: "crashed") { store async throws in
            _ = try await store.firstCommits(3, after: .zero)
            #expect(try await store.fields("c/a") == ["n": .integer(5), "m": .integer(2)])
        }
    }

    /// A state of a file to which the last commit was not applied.
    enum LateFile: CaseIterable {
        case untouched, edited, editedWithOldTime
    }

    @Test(arguments: [false, true])
    func `An edit in a folder that the start cannot reach waits there, and is taken without a call`(isClosed: Bool) async throws {
        try await crashBeforeSecondCommit()
        let (collection, file) = ("crashed/documents/c", "crashed/documents/c/a.json")
        let files = FileManager.default
        try folder.write(folder.text(of: file).replacing("\"n\": 1", with: "\"n\": 5"), to: file)
        try files.moveItem(atPath: folder[collection], toPath: folder["away"])
        try folder.link(collection, to: folder["away"])
        func putBack() throws {
            try folder.remove(collection)
            try files.moveItem(atPath: folder["away"], toPath: folder[collection])
        }
        if isClosed {
            var unedited = fixture
            // Nothing looks at the file before the store is closed.
            unedited.configuration.folderEditQuietTime = .seconds(3_600)
            let store = try await unedited.open(at: "crashed")
            try putBack()
            _ = await store.close()
        }
        try await fixture.withStore(at: "crashed") { store async throws in
            if !isClosed { try putBack() }
            let commits = try await store.firstCommits(3, after: .zero)
            #expect(try commits.last?.changes.first?.after?.decoded().fields == ["n": .integer(5), "m": .integer(2)])
        }
        #expect(try await fixture.check("crashed").findings.isEmpty)
    }

    @Test(arguments: LateFile.allCases)
    func `Edits in a folder that the start cannot reach are merged with the commits before, once it can be reached`(
        state: LateFile
    ) async throws {
        try await crashBeforeSecondCommit()
        let (collection, file) = ("crashed/documents/c", "crashed/documents/c/a.json")
        let files = FileManager.default
        if state != .untouched { try folder.write(folder.text(of: file).replacing("\"n\": 1", with: "\"n\": 5"), to: file) }
        if state == .editedWithOldTime {
            try files.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: folder[file])
        }
        try files.moveItem(atPath: folder[collection], toPath: folder["away"])
        try folder.link(collection, to: folder["away"])
        try await fixture.withStore(at: "crashed") { store async throws in
            #expect(try await store.fields("c/a") == ["n": .integer(1), "m": .integer(2)])
            try folder.remove(collection)
            try files.moveItem(atPath: folder["away"], toPath: folder[collection])
            _ = try await store.commit([.update(DocumentPath("c/a"), [(FieldPath("k"), .integer(7))])])
            let number: Value = .integer(state == .untouched ? 1 : 5)
            #expect(try await store.fields("c/a") == ["n": number, "m": .integer(2), "k": .integer(7)])
        }
        #expect(try await fixture.check("crashed").findings.isEmpty)
    }
}
