import DocumentModel
import DocumentStore
import Foundation
import Logging
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

/// Files that are edited by hand, while the store is open or closed.
@Suite("Edited files")
struct EditedFilesTests {
    private let fixture: StoreFixture
    private let path: DocumentPath
    private let file = "data/documents/c/d.json"

    init() throws {
        fixture = try StoreFixture()
        path = try DocumentPath("c/d")
    }

    /// Changes `"n"` in a document's file, at a time that its modification time tells from that of its commit.
    private func edit(_ file: String, to number: Int) throws {
        let text = try fixture.folder.text(of: file).replacing(/"n": -?\d+/) { _ in "\"n\": \(number)" }
        let committed = try modifiedMicroseconds(file)
        repeat { try fixture.folder.write(text, to: file) } while try modifiedMicroseconds(file) <= committed
    }

    private func modifiedMicroseconds(_ file: String) throws -> Int64 {
        try FileDescriptor.folder(atPath: fixture.folder.path).status(of: file)?.identity.modifiedMicroseconds ?? 0
    }

    private func set(_ number: Int64, ifUpdatedAt time: Timestamp?) -> Write {
        Write(path: path, operation: .replace(["n": .integer(number)]), precondition: time.map { .updateTime($0) } ?? .none)
    }

    @Test(arguments: [false, true])
    func `A write whose precondition has the time before an edit does not replace the edit`(reopening: Bool) async throws {
        let committed = try await fixture.withStore { store throws in
            let result = try await store.set("c/d", ["n": .integer(1)])
            if !reopening { try await expectEdited(in: store, since: result.commitTime) }
            return result.commitTime
        }
        guard reopening else { return }
        try await fixture.withStore { store in try await expectEdited(in: store, since: committed) }
    }

    private func expectEdited(in store: FileStore, since committed: Timestamp) async throws {
        #expect(try await store.document(at: path)?.updateTime == committed)
        try edit(file, to: 2)
        await expectStatus(.failedPrecondition) { try await store.commit([set(3, ifUpdatedAt: committed)]) }
        let edited = try #require(try await store.document(at: path))
        #expect(try edited.decoded().fields == ["n": .integer(2)])
        #expect(edited.updateTime > committed && edited.createTime == committed)
        let result = try await store.commit([set(3, ifUpdatedAt: edited.updateTime)])
        #expect(result.commitTime > edited.updateTime)
        #expect(try await store.document(at: path)?.updateTime == result.commitTime)
        // The history has the edit as the state before the commit.
        #expect(try await store.firstCommits(1, after: SequenceNumber(1)).first?.changes.first?.before == edited)
        // A write without a precondition replaces an edit.
        try edit(file, to: 4)
        _ = try await store.commit([set(5, ifUpdatedAt: nil)])
        #expect(try await store.fields("c/d") == ["n": .integer(5)])
    }

    @Test
    func `A transaction that read a document before an edit is aborted`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            var reads = ReadSet()
            reads.recordRead(try await store.document(at: path), at: path)
            try edit(file, to: 2)
            await expectStatus(.aborted) {
                try await store.commit([Write(path: DocumentPath("c/e"), operation: .replace([:]))], validating: reads, by: nil)
            }
        }
    }

    @Test
    func `Update times are those of the commits after a backup without times was restored in place`() async throws {
        let times = try await fixture.withStore { store in
            for number in 0..<4 as Range<Int64> { try await store.set("c/d\(number)", ["n": .integer(number)]) }
            return try await updateTimes(in: store)
        }
        // The folders remain, so that their inodes are the same.
        for name in try fixture.folder.names(in: "data/documents/c").map({ "documents/c/" + $0 }) + ["hearth.json"] {
            try fixture.folder.write(try fixture.folder.text(of: "data/" + name), to: "data/" + name)
        }
        let logs = WarningLog()
        let store = try await fixture.open(logger: logs.logger)
        await store.editedFileSearch?.wait()
        #expect(try await updateTimes(in: store) == times)
        #expect(logs.warnings.isEmpty)
        await store.close()
    }

    @Test
    func `Update times are those of the commits after a restart, a crash, in a copy and in a folder of an earlier version`()
        async throws
    {
        var times: [DocumentPath: Timestamp] = [:]
        try await fixture.withStore { store in
            for number in 0..<4 as Range<Int64> {
                try await store.set("c/d\(number)", ["n": .integer(number)])
            }
            // Large enough for its files to be written later.
            _ = try await store.commit((4..<40).map { try .set(DocumentPath("c/d\($0)"), ["n": .integer($0)]) })
            times = try await updateTimes(in: store)
            try fixture.folder.copy("data", to: "crashed")
        }
        try #require(times.count == 40)
        // Another time for each file, as copies without times have.
        try fixture.folder.copy("data", to: "earlier")
        let manifest = try fixture.folder.text(of: "earlier/hearth.json")
        try fixture.folder.write(manifest.replacing(/"datedFiles":{[^}]*},?/, with: ""), to: "earlier/hearth.json")
        for folder in ["crashed", "earlier"] {
            for name in try fixture.folder.names(in: folder + "/documents/c") {
                let file = folder + "/documents/c/" + name
                try fixture.folder.write(try fixture.folder.text(of: file), to: file)
            }
        }
        for folder in ["data", "crashed", "earlier"] {
            let logs = WarningLog()
            let store = try await fixture.open(at: folder, logger: logs.logger)
            await store.editedFileSearch?.wait()
            #expect(try await updateTimes(in: store) == times, "\(folder)")
            #expect(logs.warnings.isEmpty, "\(folder)")
            // From now on, edits are noticed.
            try await store.set("c/d0", ["n": .integer(10)])
            let committed = try await store.document(at: DocumentPath("c/d0"))?.updateTime
            try edit(folder + "/documents/c/d0.json", to: 11)
            #expect(try await store.document(at: DocumentPath("c/d0"))?.updateTime != committed)
            await store.close()
        }
    }

    private func updateTimes(in store: FileStore) async throws -> [DocumentPath: Timestamp] {
        var times: [DocumentPath: Timestamp] = [:]
        for case .document(let document) in try await store.list("c").documents { times[document.path] = document.updateTime }
        return times
    }

    @Test
    func `A start logs how many files were edited while the store was closed, until a repair`() async throws {
        try await fixture.withStore { store in
            for number in 0..<10 as Range<Int64> { try await store.set("c/d\(number)", ["n": .integer(number)]) }
            try await store.set("c/d1/e/f", ["n": .integer(1)])
        }
        #expect(try await editedFiles().isEmpty)
        for name in ["c/d2", "c/d1/e/f"] { try edit("data/documents/\(name).json", to: 100) }
        try fixture.folder.write("{", to: "data/documents/c/d3.json")
        for _ in 0..<2 {
            let logged = try await editedFiles()
            #expect(logged.map { $0["store.edited_documents"] } == ["3"])
            let paths = logged.first?["file.paths"]?.description ?? ""
            #expect(paths.contains("documents/c/d2.json") && paths.contains("documents/c/d1/e/f.json"))
        }
        try fixture.folder.remove("data/documents/c/d3.json")
        try await FileStore.repair(fixture.folder["data"], after: try await fixture.check().0, logger: .silent)
        #expect(try await editedFiles().isEmpty)
    }

    @Test
    func `After a crash, only the files that were edited are logged`() async throws {
        let store = try await fixture.open()
        for number in 0..<10 as Range<Int64> { try await store.set("c/d\(number)", ["n": .integer(number)]) }
        store.data.unlock()
        try edit("data/documents/c/d2.json", to: 100)
        #expect(try await editedFiles().map { $0["store.edited_documents"] } == ["1"])
    }

    /// Opens the store, and returns the metadata of the log entries about edited files.
    private func editedFiles() async throws -> [Logger.Metadata] {
        let logs = WarningLog()
        try await fixture.withStore(logger: logs.logger) { store in await store.editedFileSearch?.wait() }
        return logs.entries.filter { $0.message.contains("edited while the server was stopped") }.map(\.metadata)
    }

    @Test
    func `A damaged file that was mended by hand counts with its new value until the next commit, and afterward`() async throws {
        try await fixture.withStore { store in
            for number in 1...3 as ClosedRange<Int64> { try await store.set("c/d\(number)", ["n": .integer(number)]) }
            let intact = try fixture.folder.text(of: "data/documents/c/d2.json")
            try fixture.folder.write("{", to: "data/documents/c/d2.json")
            await expectStatus(.dataLoss) { try await store.document(at: DocumentPath("c/d2")) }
            #expect(try await sum(in: store) == .integer(4))
            try fixture.folder.write(intact.replacing("\"n\": 2", with: "\"n\": 20"), to: "data/documents/c/d2.json")
            for _ in 0..<3 { #expect(try await sum(in: store) == .integer(24)) }
            try await store.set("c/d2", ["n": .integer(200)])
            for _ in 0..<2 { #expect(try await sum(in: store) == .integer(204)) }
        }
    }

    private func sum(in store: FileStore) async throws -> Value? {
        let aggregations = try NormalizedAggregations([Aggregation(.sum(FieldPath("n")), alias: "sum")])
        let query = try NormalizedQuery(
            StructuredQuery(.collection(CollectionPath("c"))),
            aggregating: aggregations.fields
        )
        return try await store.aggregate(query, aggregations, readTime: nil).results["sum" as UTF8Key]
    }
}
