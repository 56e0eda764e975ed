import DocumentModel
import DocumentStore
import Foundation
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Edits of document files", .timeLimit(.minutes(10)))
struct FolderEditTests {
    private var fixture: StoreFixture
    private var folder: TemporaryFolder { fixture.folder }

    init() throws {
        fixture = try StoreFixture()
        fixture.configuration.takesFolderEdits = true
        fixture.configuration.folderEditQuietTime = .milliseconds(20)
    }

    private func replace(_ text: String, with other: String, in file: String) throws {
        try folder.write(folder.text(of: file).replacing(text, with: other), to: file)
    }

    /// Waits until the latest commits have changed documents; returns whether these exist after them.
    private func changes(_ paths: Set<String>, _ store: FileStore) async throws -> [String: Bool] {
        var changes: [String: Bool] = [:]
        var sequence = SequenceNumber(3)
        while Set(changes.keys) != paths {
            let commit = try await commit(after: sequence.rawValue, store)
            sequence = commit.sequence
            for change in commit.changes where paths.contains(change.path.string) {
                changes[change.path.string] = change.after != nil
            }
        }
        return changes
    }

    /// Waits until a condition holds.
    private func eventually(_ condition: () throws -> Bool) async rethrows {
        while try !condition() { try? await Task.sleep(for: .milliseconds(5)) }
    }

    /// Returns the next commit after a sequence number.
    private func commit(after sequence: UInt64, _ store: FileStore) async throws -> Commit {
        try #require(try await store.firstCommits(1, after: SequenceNumber(sequence)).first)
    }

    @Test
    func `A file that is saved becomes a commit, with the version before it and the owner of the file`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try await store.waitUntilIndexed()
            try replace("\"n\": 1", with: "\"n\": 2", in: "data/documents/c/a.json")
            let commit = try await commit(after: 1, store)
            #expect(commit.author?.string.hasPrefix("file:") == true)
            let change = try #require(commit.changes.first)
            #expect(try change.before?.decoded().fields == ["n": .integer(1)])
            #expect(try change.after?.decoded().fields == ["n": .integer(2)])
            #expect(change.after?.createTime == change.before?.createTime && change.after?.updateTime == commit.time)
            // The file has the form and the times of a commit.
            let stored = try await store.document(at: DocumentPath("c/a"))
            #expect(stored == change.after)
            #expect(try folder.text(of: "data/documents/c/a.json").contains(commit.time.rfc3339))
            let query = StructuredQuery(
                .collection(try CollectionPath("c")),
                where: .field(try FieldPath("n"), .equal(.integer(2)))
            )
            let result = try await store.run(NormalizedQuery(query), maximumBytes: 1 << 20, readTime: nil)
            #expect(result.documents.map(\.path.string) == ["c/a"])
        }
    }

    @Test
    func `Files that are added, removed and moved are creations and deletions`() async throws {
        var fixture = fixture
        // Both ends of a move are noticed within five times that.
        fixture.configuration.folderEditQuietTime = .milliseconds(200)
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try folder.write(#"{"title": "by hand"}"#, to: "data/documents/c/b.json")
            let creation = try await commit(after: 1, store)
            #expect(creation.changes.map(\.existedBefore) == [false])
            #expect(try creation.changes.first?.after?.decoded().fields == ["title": .string("by hand")])
            #expect(creation.changes.first?.after?.createTime == creation.time)

            try folder.remove("data/documents/c/a.json")
            let deletion = try await commit(after: 2, store)
            #expect(deletion.changes.map(\.path.string) == ["c/a"] && deletion.changes.first?.after == nil)
            #expect(try deletion.changes.first?.before?.decoded().fields == ["n": .integer(1)])

            let files = FileManager.default
            try files.moveItem(atPath: folder["data/documents/c/b.json"], toPath: folder["data/documents/c/z.json"])
            #expect(try await changes(["c/b", "c/z"], store) == ["c/b": false, "c/z": true])
            try files.moveItem(atPath: folder["data/documents/c"], toPath: folder["data/documents/moved"])
            #expect(try await changes(["c/z", "moved/z"], store) == ["c/z": false, "moved/z": true])
            // Without events, a scan may find only some of the changes.
            if store.folderEdits?.isWatching == true { #expect(store.position.lastSequence == SequenceNumber(5)) }
            let sequence = store.position.lastSequence.rawValue
            try folder.write(#"{"n": 5}"#, to: "data/documents/moved/z/sub/d.json")
            let inner = try await commit(after: sequence, store)
            #expect(inner.changes.map(\.path.string) == ["moved/z/sub/d"])
            // Nothing is kept beside the documents.
            #expect(try folder.names(in: "data/documents/moved").sorted() == ["z", "z.json"] && store.problemCount == 0)
        }
    }

    @Test
    func `A file that is half written waits until it is whole, and nothing is written over it`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let broken = #"{"n": 2, "#
            try folder.write(broken, to: "data/documents/c/a.json")
            await expectStatus(.dataLoss) { try await store.document(at: DocumentPath("c/a")) }
            await expectStatus(.dataLoss) { try await store.set("c/a", ["n": .integer(3)]) }
            try await Task.sleep(for: .milliseconds(100))
            #expect(try folder.text(of: "data/documents/c/a.json") == broken)
            try folder.write(broken + #""m": 3}"#, to: "data/documents/c/a.json")
            let commit = try await commit(after: 1, store)
            #expect(try commit.changes.first?.after?.decoded().fields == ["n": .integer(2), "m": .integer(3)])
            #expect(store.problemCount == 0)
        }
    }

    @Test
    func `A file that is no document is rejected: it is kept beside the last version, and reported until it is gone`()
        async throws
    {
        let text = "{\"n\": 2,\n \"m\": yes}"
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let committed = try folder.text(of: "data/documents/c/a.json")
            try folder.write(text, to: "data/documents/c/a.json")
            await eventually { store.problemCount == 1 }
            try await eventually { try folder.text(of: "data/documents/c/a.json") == committed }
            #expect(try folder.text(of: "data/documents/c/a.json.rejected") == text)
            let problem = try #require(try await store.problems(limit: 10).problems.first)
            #expect(problem.kind == .rejected && problem.document?.string == "c/a")
            #expect(problem.file == .init(path: "documents/c/a.json.rejected", line: 2, column: 7))
            // A second one, and a new document.
            try folder.write(#"{"$color": 1}"#, to: "data/documents/c/a.json")
            try folder.write(#"[1]"#, to: "data/documents/c/b.json")
            await eventually { store.problemCount == 3 }
            await eventually { (try? folder.text(of: "data/documents/c/a.json")) == committed }
            #expect(
                try folder.names(in: "data/documents/c").sorted() == [
                    "a.json", "a.json.rejected", "a.json.rejected.2", "b.json.rejected",
                ]
            )
            #expect(try await store.list("c").ids == ["a"])
            #expect(store.position.lastSequence == SequenceNumber(1))
        }
        try folder.remove("data/documents/c/a.json.rejected.2")
        try await fixture.withStore { store in
            await eventually { store.problemCount == 2 }
            try folder.remove("data/documents/c/b.json.rejected")
            await eventually { store.problemCount == 1 }
            // A file that was corrected.
            try folder.write(#"{"n": 5}"#, to: "data/documents/c/a.json.rejected")
            #expect(rename(folder["data/documents/c/a.json.rejected"], folder["data/documents/c/a.json"]) == 0)
            let commit = try await commit(after: 1, store)
            #expect(try commit.changes.first?.after?.decoded().fields == ["n": .integer(5)])
            await eventually { store.problemCount == 0 }
        }
    }

    @Test
    func `A document that is too large for the quota is rejected`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try await store.setQuota(DatabaseQuota(documentCount: 1))
            try folder.write(#"{"n": 2}"#, to: "data/documents/c/b.json")
            await eventually { store.problemCount == 1 }
            #expect(try folder.names(in: "data/documents/c").sorted() == ["a.json", "b.json.rejected"])
        }
    }

    @Test
    func `A commit takes the edit of a document that it writes first`() async throws {
        var fixture = fixture
        fixture.configuration.folderEditQuietTime = .seconds(3_600)
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try replace("\"n\": 1", with: "\"n\": 2", in: "data/documents/c/a.json")
            try await store.set("c/a", ["n": .integer(3)])
            let commits = try await store.firstCommits(3, after: .zero)
            let values = try commits.map { try $0.changes.first?.after?.decoded().fields["n"] }
            #expect(values == [.integer(1), .integer(2), .integer(3)])
        }
    }

    @Test
    func
        `An edit of an earlier version that changes the same field is kept beside the committed one; an earlier version as it was replaces it`()
        async throws
    {
        let logs = WarningLog()
        try await fixture.withStore(logger: logs.logger) { store in
            try await store.set("c/a", ["n": .integer(1)])
            let first = try folder.text(of: "data/documents/c/a.json")
            try await store.set("c/a", ["n": .integer(2)])
            let second = try folder.text(of: "data/documents/c/a.json")
            let edited = first.replacing("1,", with: "7,")
            try folder.write(edited, to: "data/documents/c/a.json")
            while try folder.text(of: "data/documents/c/a.json") != second { try await Task.sleep(for: .milliseconds(5)) }
            let kept = try folder.names(in: "data/documents/c").filter { $0.contains("conflict") }
            #expect(kept.count == 1 && kept[0].hasPrefix("a.json.conflict-20"))
            #expect(try folder.text(of: "data/documents/c/\(kept[0])") == edited)
            #expect(store.position.lastSequence == SequenceNumber(2))
            while try await store.problems(limit: 10).problems.map(\.kind) != [.conflict] {
                try await Task.sleep(for: .milliseconds(5))
            }
            let message =
                "A file was edited while its document changed; it is kept beside the document, which has the committed version"
            await eventually { logs.entries(message).count == 1 }

            try folder.write(first, to: "data/documents/c/a.json")
            let commit = try await commit(after: 2, store)
            #expect(try commit.changes.first?.after?.decoded().fields == ["n": .integer(1)])
            #expect(try await store.list("c").ids == ["a"])
        }
    }

    @Test
    func `An edit of an earlier version is merged with commits that have changed other fields`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1), "m": .map(["x": .integer(1)])])
            let first = try folder.text(of: "data/documents/c/a.json")
            try await store.set("c/a", ["n": .integer(1), "m": .map(["x": .integer(1), "y": .integer(2)])])
            try folder.write(first.replacing("\"n\": 1", with: "\"n\": 7"), to: "data/documents/c/a.json")
            let commit = try await commit(after: 2, store)
            let merged: MapValue = ["n": .integer(7), "m": .map(["x": .integer(1), "y": .integer(2)])]
            #expect(try commit.changes.first?.after?.decoded().fields == merged)
            await eventually { (try? folder.text(of: "data/documents/c/a.json"))?.contains(commit.time.rfc3339) == true }
            #expect(store.problemCount == 0)
        }
    }

    @Test(arguments: [1, 2])
    func `A text that is saved over one that a commit has changed more than it knows does not replace that commit`(
        other: Int64
    ) async throws {
        let file = "data/documents/c/a.json"
        var fixture = fixture
        fixture.configuration.takesFolderEdits = false
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1), "m": .integer(1)])
            let path = try DocumentPath("c/a")
            let base = try #require(try await store.document(at: path))
            let times = FileEdit.Times(create: base.createTime, update: base.updateTime)
            let contents = FileEdit.Contents(fields: ["n": .integer(7), "m": .integer(1)], times: times)
            let problems = EditProblems(logger: .silent)
            var writer = DocumentFileWriter(store.components.files, cache: store.components.cache, edits: problems)
            writer.replaceEdit(of: path, try writer.identity(of: path), contents)
            let fields: MapValue = ["n": .integer(7), "m": .integer(other)]
            let time = try Timestamp(microseconds: times.update.microseconds + 1)
            let version = EncodedDocument(Document(path: path, fields: fields, createTime: times.create, updateTime: time))
            let staged = try writer.stage(version)
            try folder.write("{}", to: file)
            try writer.moveIntoPlace(staged)
            #expect(try folder.text(of: file) == "{}")
            #expect(problems.isFollower(path, of: version, stating: times.update) == (other == 1))
        }
    }

    @Test(arguments: [false, true])
    func `An edit that has been read is not taken for the committed version`(isCommitted: Bool) async throws {
        let file = "data/documents/c/a.json"
        var fixture = fixture
        fixture.configuration.takesFolderEdits = false
        // Files of the last second are not cached when they are read.
        let past = try Timestamp(microseconds: Timestamp.current().microseconds - 3_600_000_000)
        fixture.configuration.now = { past }
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let path = try DocumentPath("c/a")
            if !isCommitted { store.components.cache.removeAll() }
            let committed = try #require(try await store.document(at: path))
            #expect(store.components.cache.entry(at: path)?.isCommitted == isCommitted)
            let problems = EditProblems(logger: .silent)
            var writer = DocumentFileWriter(store.components.files, cache: store.components.cache, edits: problems)
            #expect(try writer.document(at: path) == committed)
            try replace("\"n\": 1", with: "\"n\": 2", in: file)
            let saved = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -1_800)]
            try FileManager.default.setAttributes(saved, ofItemAtPath: folder[file])
            #expect(try await store.document(at: path)?.decoded().fields == ["n": .integer(2)])
            #expect(store.components.cache.entry(at: path)?.isCommitted == false)
            let error = #expect(throws: StatusError.self) { _ = try writer.document(at: path) }
            #expect(error?.versionBeforeEdit == committed)
            writer.replaceEdit(of: path, try writer.identity(of: path))
            try writer.write(committed)
            #expect(try writer.document(at: path) == committed)
        }
    }

    @Test
    func `A version that a reader caches after its deletion does not become a deletion again`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let path = try DocumentPath("c/a")
            let entry = try #require(store.components.cache.entry(at: path))
            try await store.delete("c/a")
            store.components.cache.insertRead(entry.document, identity: entry.identity)
            await store.folderEdits?.take([path])
            #expect(store.position.lastSequence == SequenceNumber(2))
            store.components.cache.insertRead(entry.document, identity: entry.identity)
            try await store.set("c/a", ["n": .integer(2)])
            #expect(store.position.lastSequence == SequenceNumber(3))
        }
    }

    @Test
    func `Edits while the store is closed are found when it is opened`() async throws {
        try await fixture.withStore { store in
            for name in ["a", "b", "d"] { try await store.set("c/\(name)", ["n": .integer(1)]) }
            try await store.set("gone/x", [:])
            try await store.set("m/old", [:])
            try await store.waitUntilIndexed()
        }
        try replace("\"n\": 1", with: "\"n\": 2", in: "data/documents/c/a.json")
        try folder.remove("data/documents/c/b.json")
        // As many files as before.
        try FileManager.default.moveItem(atPath: folder["data/documents/m/old.json"], toPath: folder["data/documents/m/new.json"])
        try folder.write(#"{"n": 3}"#, to: "data/documents/new/e.json")
        try folder.remove("data/documents/gone")
        try await fixture.withStore { store in
            var changes: [String: MapValue] = [:]
            var sequence = store.position.lastSequence
            while changes.count < 6 {
                let commit = try #require(try await store.firstCommits(1, after: sequence).first)
                sequence = commit.sequence
                for change in commit.changes {
                    changes[change.path.string] = try change.after?.decoded().fields ?? ["deleted": .boolean(true)]
                }
            }
            let deleted: MapValue = ["deleted": .boolean(true)]
            let expected: [String: MapValue] = [
                "c/a": ["n": .integer(2)], "c/b": deleted, "new/e": ["n": .integer(3)], "gone/x": deleted, "m/old": deleted,
                "m/new": [:],
            ]
            #expect(changes == expected)
        }
        // Nothing is left to be found.
        try await fixture.withStore { store in
            let position = store.position
            try await Task.sleep(for: .milliseconds(200))
            #expect(store.position == position)
        }
    }

    @Test
    func `An edit that is saved just before the store is closed is taken`() async throws {
        var fixture = fixture
        fixture.configuration.folderEditQuietTime = .seconds(5)
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try replace("\"n\": 1", with: "\"n\": 2", in: "data/documents/c/a.json")
        }
        try await fixture.withStore { store in
            let commit = try await commit(after: 1, store)
            #expect(try commit.changes.first?.after?.decoded().fields == ["n": .integer(2)])
        }
    }

    @Test
    func `Commits are not taken for edits, nor are files that are saved unchanged`() async throws {
        var fixture = fixture
        // Nearly nothing is cached.
        fixture.configuration.cacheBytes = 4_096
        try await fixture.withStore { store in
            for number in 0..<300 { try await store.set("c/d\(number % 100)", ["n": .integer(Int64(number))]) }
            for number in 0..<20 { try await store.delete("c/d\(number)") }
            let file = "data/documents/c/d50.json"
            let text = try folder.text(of: file)
            try folder.write(text, to: file)
            try folder.write(#"{"n": 251}"#, to: "data/documents/c/d51.json")
            while try folder.text(of: "data/documents/c/d51.json") == #"{"n": 251}"# {
                try await Task.sleep(for: .milliseconds(5))
            }
            try await Task.sleep(for: .milliseconds(200))
            #expect(store.position.lastSequence == SequenceNumber(320))
            #expect(try folder.text(of: file) == text)
        }
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test
    func `Files that commits replace while they are compared are not taken for edits`() async throws {
        var fixture = fixture
        fixture.configuration.folderEditQuietTime = .milliseconds(1)
        try await fixture.withStore { store in
            try await withThrowingTaskGroup { group in
                for writer in 0..<4 {
                    group.addTask {
                        for number in 0..<250 { try await store.set("c/\(writer)", ["n": .integer(Int64(number))]) }
                        try await store.delete("c/\(writer)")
                    }
                }
                try await group.waitForAll()
            }
            try await Task.sleep(for: .milliseconds(200))
            #expect(store.position.lastSequence == SequenceNumber(4 * 251))
        }
        #expect(try await fixture.check().findings.isEmpty)
    }

    @Test
    func `Too many files that are removed at once are no deletions`() async throws {
        var fixture = fixture
        fixture.configuration.maximumFolderDeletions = 5
        let logs = WarningLog()
        try await fixture.withStore(logger: logs.logger) { store in
            for number in 0..<10 { try await store.set("c/d\(number)", [:]) }
            try FileManager.default.moveItem(atPath: folder["data/documents/c"], toPath: folder["away"])
            while !logs.warnings.contains(where: { $0["store.removed_files"] != nil }) {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(store.position.lastSequence == SequenceNumber(10))
            #expect(try await store.problems(limit: 10).problems.map(\.kind) == [.removed])
            // Calls are not held up.
            try await store.set("c/d0", ["n": .integer(1)])
            try folder.remove("data/documents/c")
            try FileManager.default.moveItem(atPath: folder["away"], toPath: folder["data/documents/c"])
            try folder.write(#"{"n": 1}"#, to: "data/documents/c/d1.json")
            _ = try await changes(["c/d1"], store)
            // The file of the document that was written meanwhile is kept beside it.
            while try await store.problems(limit: 10).problems.map(\.kind) != [.conflict] {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    @Test
    func `Documents that calls delete, and files whose removal was accepted, do not count as files that were removed at once`()
        async throws
    {
        var fixture = fixture
        fixture.configuration.maximumFolderDeletions = 600
        try await fixture.withStore { store in
            let (deleted, moved) = ((0..<1_500).map { "c/d\($0)" }, (0..<700).map { "m/d\($0)" })
            for paths in [deleted, moved, ["other/a", "other/b"]] {
                _ = try await store.commit(paths.map { Write(path: try DocumentPath($0), operation: .replace([:])) })
            }
            try await store.waitUntilIndexed()
            _ = try await store.commit(deleted.map { Write(path: try DocumentPath($0), operation: .delete) })
            try folder.remove("data/documents/other/a.json")
            #expect(try await commit(after: 4, store).changes.map(\.path.string) == ["other/a"])
            try FileManager.default.moveItem(atPath: folder["data/documents/m"], toPath: folder["away"])
            await eventually { store.problemCount == 1 }
            #expect(store.position.lastSequence == SequenceNumber(5))
            try await store.acceptRemovedFiles()
            #expect(try await commit(after: 5, store).changes.count == 500)
            #expect(try await commit(after: 6, store).changes.count == 200)
            try folder.remove("data/documents/other/b.json")
            #expect(try await commit(after: 7, store).changes.map(\.path.string) == ["other/b"])
            #expect(store.problemCount == 0)
        }
    }

    @Test
    func `Files that are removed one after the other are counted together, and wait beyond a restart`() async throws {
        var fixture = fixture
        fixture.configuration.maximumFolderDeletions = 5
        fixture.configuration.folderEditQuietTime = .milliseconds(500)
        try await fixture.withStore { store in
            for number in 0..<40 { try await store.set("c/d\(number)", [:]) }
            try await store.waitUntilIndexed()
            // Longer in all than files that go on changing are left alone; on a thread that other tests do not hold up.
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { [folder] in
                    for number in 0..<30 {
                        try? folder.remove("data/documents/c/d\(number).json")
                        Thread.sleep(forTimeInterval: 0.1)
                    }
                    continuation.resume()
                }
            }
            await eventually { store.problemCount == 1 }
            #expect(store.position.lastSequence == SequenceNumber(40))
        }
        // Fewer than the limit are missing still.
        for number in 0..<27 { try folder.write("{}", to: "data/documents/c/d\(number).json") }
        try await fixture.withStore { store in
            while try await store.problems(limit: 1).problems.first?.message.hasPrefix("3 ") != true {
                try await Task.sleep(for: .milliseconds(5))
            }
            for number in 27..<30 { try folder.write("{}", to: "data/documents/c/d\(number).json") }
            await eventually { store.problemCount == 0 }
            #expect(try await store.list("c").ids.count == 40)
        }
        try await fixture.withStore { store in #expect(store.problemCount == 0) }
    }

    @Test
    func `While removed files wait for a person, those that are put back in parts delete nothing`() async throws {
        var fixture = fixture
        fixture.configuration.maximumFolderDeletions = 5
        try await fixture.withStore { store in
            for collection in ["c", "e"] {
                for number in 0..<4 { try await store.set("p/x/\(collection)/d\(number)", [:]) }
            }
            try await store.waitUntilIndexed()
            let files = FileManager.default
            try files.moveItem(atPath: folder["data/documents/p"], toPath: folder["away"])
            await eventually { store.problemCount == 1 }
            try files.createDirectory(atPath: folder["data/documents/p/x"], withIntermediateDirectories: true)
            try files.moveItem(atPath: folder["away/x/c"], toPath: folder["data/documents/p/x/c"])
            // Four files are missing still, fewer than the limit.
            while try await store.problems(limit: 1).problems.first?.message.hasPrefix("4 ") != true {
                try await Task.sleep(for: .milliseconds(5))
            }
            try files.moveItem(atPath: folder["away/x/e"], toPath: folder["data/documents/p/x/e"])
            await eventually { store.problemCount == 0 }
            #expect(store.position.lastSequence == SequenceNumber(8))
            try folder.remove("data/documents/p/x/e/d0.json")
            #expect(try await commit(after: 8, store).changes.map(\.path.string) == ["p/x/e/d0"])
        }
    }

    @Test
    func `Links and files that are no documents are reported until they are gone; a folder replaced by a link deletes nothing`()
        async throws
    {
        var fixture = fixture
        // A folder that is missing for a moment has been removed, perhaps.
        fixture.configuration.folderEditQuietTime = .seconds(1)
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            try await store.waitUntilIndexed()
            try FileManager.default.moveItem(atPath: folder["data/documents/c"], toPath: folder["away"])
            try folder.link("data/documents/c", to: folder["away"])
            try folder.write("{}", to: "data/documents/d/%zz.json")
            try folder.write("{}", to: "data/documents/stray.json")
            try folder.write("text", to: "data/documents/d/README.txt")
            await eventually { store.problemCount == 3 }
            let problems = try await store.problems(limit: 10).problems
            #expect(problems.map(\.file.path) == ["documents/c", "documents/d/%zz.json", "documents/stray.json"])
            #expect(problems.allSatisfy { $0.kind == .foreign } && problems.first?.message.contains("symbolic link") == true)
            try folder.remove("data/documents/d/%zz.json")
            await eventually { store.problemCount == 2 }
            await expectStatus(.failedPrecondition) { try await store.document(at: DocumentPath("c/a")) }
        }
        try await fixture.withStore { store in
            await eventually { store.problemCount == 2 }
            // Other edits are taken meanwhile.
            try folder.write(#"{"n": 1}"#, to: "data/documents/d/b.json")
            #expect(try await commit(after: 1, store).changes.map(\.path.string) == ["d/b"])
            try folder.remove("data/documents/c")
            try folder.remove("data/documents/stray.json")
            try FileManager.default.moveItem(atPath: folder["away"], toPath: folder["data/documents/c"])
            try folder.write(#"{"n": 2}"#, to: "data/documents/c/a.json")
            #expect(try await commit(after: 2, store).changes.map(\.existedBefore) == [true])
            await eventually { store.problemCount == 0 }
        }
    }

    /// Names of entries that can be no documents, each in the folder of a collection, and as they are shown.
    private static let hostileNames: [(bytes: [UInt8], shown: String, isFolder: Bool)] = [
        ([0x61, 0xff, 0x5c] + Array(".json".utf8), #"a\xFF\\.json"#, false),
        ([0xc3] + Array(".json".utf8), #"\xC3.json"#, false),
        ([0xe2, 0x82], #"\xE2\x82"#, true),
        (Array("line\n\u{202e}.json".utf8), #"line\x0A\xE2\x80\xAE.json"#, false),
        (Array("\"quoted\"%zz.json".utf8), "\"quoted\"%zz.json", false),
        (Array("ü.json".utf8), "ü.json", true),
    ]

    @Test(arguments: [false, true])
    func `Names that are not UTF-8, or break lines, are reported in escaped form until they are gone`(isClosed: Bool) async throws
    {
        func forEachName(_ body: (UnsafePointer<CChar>, _ isFolder: Bool) -> Int32) {
            for (bytes, _, isFolder) in Self.hostileNames {
                let name = Array("\(folder["data/documents/c"])/".utf8) + bytes + [0]
                #expect(body(name.map { CChar(bitPattern: $0) }, isFolder) == 0)
            }
        }
        func create() {
            forEachName { name, isFolder in isFolder ? mkdir(name, 0o700) : close(open(name, O_CREAT | O_WRONLY, 0o600)) }
        }
        try await fixture.withStore { store in try await store.set("c/a", ["n": .integer(1)]) }
        if isClosed { create() }
        try await fixture.withStore { store in
            if !isClosed { create() }
            await eventually { store.problemCount == Self.hostileNames.count }
            let problems = try await store.problems(limit: 10).problems
            #expect(problems.allSatisfy { $0.kind == .foreign && $0.document == nil })
            #expect(Set(problems.map(\.file.path)) == Set(Self.hostileNames.map { "documents/c/\($0.shown)" }))
            // Others are taken meanwhile.
            try folder.write(#"{"n": 2}"#, to: "data/documents/c/a.json")
            #expect(try await commit(after: 1, store).changes.map(\.path.string) == ["c/a"])
            forEachName { name, isFolder in isFolder ? rmdir(name) : unlink(name) }
            await eventually { store.problemCount == 0 }
        }
    }

    @Test
    func `A checkpoint records since when edits are not commits`() async throws {
        var fixture = fixture
        fixture.configuration.folderEditQuietTime = .seconds(3_600)
        fixture.configuration.checkpointDocuments = 1
        try await fixture.withStore { store in
            func editsSince() throws -> Int64? {
                try DataFolderManifest(folder.bytes(of: "data/hearth.json")).editsSince
            }
            // The first scan waits for the index.
            await eventually { store.folderEdits?.state.withLock { $0.lastScan != nil } == true }
            let start = Timestamp.current().microseconds
            try folder.write(#"{"n": 2}"#, to: "data/documents/c/b.json")
            await eventually { store.folderEdits?.state.withLock { !$0.pending.isEmpty } == true }
            // So does each other write of the manifest, which changes its time.
            await store.folderEdits?.setRemovedFileCount(1)
            #expect(try #require(try editsSince()) < start)
            await store.folderEdits?.setRemovedFileCount(0)
            for number in 0..<3 as Range<Int64> {
                try await store.set("other/a", ["n": .integer(number)])
                await store.waitForCheckpoint()
            }
            let time = try #require(try editsSince())
            #expect(time < start && time > start - 2 * UncommittedEdits.margin)
        }
    }

    @Test
    func `An index that is built after a clean start does not hide edits that were made before`() async throws {
        let gate = ScanGate()
        var fixture = fixture
        fixture.configuration.folderEditQuietTime = .seconds(3_600)
        try await fixture.withStore { store in try await store.set("c/a", ["n": .integer(1)]) }
        func editsSince() throws -> Int64? {
            try DataFolderManifest(folder.bytes(of: "data/hearth.json")).editsSince
        }
        let stop = Timestamp.current().microseconds
        fixture.configuration.rebuildsIndex = true
        fixture.configuration.willScanForIndex = { gate.pass() }
        gate.close()
        try await fixture.withStore { store in
            // The manifest says that the index is being written. It is written beside the scan.
            await eventually { gate.isHolding && store.data.manifest.openIndex != nil }
            let (time, manifest) = (try editsSince(), store.data.manifest)
            gate.open()
            #expect(manifest.isClean && manifest.openIndex != nil)
            #expect(try #require(time) < stop)
        }
    }

    @Test
    func `Folders whose turn to be scanned is later count as being scanned`() throws {
        var state = FolderEdits.State()
        let locations = Set(try ["c", "d"].map { DocumentLocation.collection(try CollectionPath($0)) })
        (state.lastScan, state.unscanned) = (7, locations)
        #expect(state.uncommittedSince(start: 0) == 7)
        #expect(state.beginWork().unscanned == locations && state.unscanned.isEmpty)
        #expect(state.scanning == locations && state.uncommittedSince(start: 0) == 7)
    }

    @Test
    func `Many foreign entries hide neither damage nor edits that are stuck`() throws {
        let problems = EditProblems(logger: .silent)
        let collection = DocumentLocation.collection(try CollectionPath("c"))
        let foreign = (0..<12_000).map { ForeignEntry(location: collection, name: Array("n\($0)".utf8)) }
        problems.replace(in: collection, withRejected: [], foreign: foreign)
        let (damaged, waiting) = (try DocumentPath("c/damaged"), try DocumentPath("c/waiting"))
        #expect(problems.insertDamaged(damaged) && problems.hasDamaged([damaged]))
        #expect(problems.insertWaiting(waiting, StatusError(.unavailable, "")) && problems.count == 10_002)
        problems.removeWaiting([waiting])
        problems.replace(in: collection, withRejected: [], foreign: Array(foreign.prefix(1)))
        #expect(problems.count == 2)
    }

    @Test
    func `A folder that was renamed may have other files of any age`() async throws {
        try await fixture.withStore { store in
            for path in ["c/a", "c/b", "c/a/inner/d", "other/o"] { try await store.set(path, ["n": .integer(1)]) }
            /// Returns the files that may have changed since a time.
            func candidates(since time: Int64) throws -> [String] {
                var scan = EditScan(store.components.files.folders, nil, since: time) { _, _ in }
                try scan.run(.root)
                return scan.result.candidates.map(\.string).sorted()
            }
            // Later than the last change by more than the clock of the file system is late.
            await eventually { store.folderEdits?.state.withLock { $0.uncommittedSince(start: 0) == nil } == true }
            try await Task.sleep(for: .milliseconds(50))
            let time = Timestamp.current().microseconds - 20_000
            #expect(try candidates(since: time) == [])
            let files = FileManager.default
            try files.moveItem(atPath: folder["data/documents/c"], toPath: folder["away"])
            try files.moveItem(atPath: folder["away"], toPath: folder["data/documents/c"])
            #expect(try candidates(since: time) == ["c/a", "c/a/inner/d", "c/b"])
        }
    }

    @Test
    func `Edits that rules refuse are rejected, and removed files put back`() async throws {
        var fixture = fixture
        let user = try #require(ProcessInfo.processInfo.userName as String?)
        fixture.configuration.folderEditAuthorization = { database, owner throws(StatusError) in
            // Nobody knows who has removed a file.
            #expect(database == nil && (owner == user || owner == nil))
            return Rules { $0.after != nil && $0.after?.fields["secret"] == nil }
        }
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let text = try folder.text(of: "data/documents/c/a.json")
            // Together, so that they are one commit at first.
            try folder.write(#"{"secret": 2}"#, to: "data/documents/c/a.json")
            try folder.write(#"{"n": 3}"#, to: "data/documents/c/b.json")
            #expect(try await commit(after: 1, store).changes.map(\.path.string) == ["c/b"])
            await eventually { (try? folder.text(of: "data/documents/c/a.json")) == text }
            #expect(try folder.text(of: "data/documents/c/a.json.rejected") == #"{"secret": 2}"#)
            try folder.remove("data/documents/c/a.json")
            await eventually { folder.exists("data/documents/c/a.json") }
            #expect(store.position.lastSequence == SequenceNumber(2))
        }
    }

    @Test
    func `Under rules, a renamed file is one commit, which is permitted or refused as a whole`() async throws {
        var fixture = fixture
        // Long enough for two moves on a busy machine.
        fixture.configuration.folderEditQuietTime = .milliseconds(500)
        let user = try #require(ProcessInfo.processInfo.userName as String?)
        fixture.configuration.folderEditAuthorization = { _, owner throws(StatusError) in
            #expect(owner == user)
            return Rules { !$0.write.path.id.key.string.hasPrefix("x") }
        }
        try await fixture.withStore { store in
            // Of one commit, so that their times are equal.
            _ = try await store.commit(
                ["a", "b"].map { try Write(path: DocumentPath("c/\($0)"), operation: .replace(["n": .string($0)])) }
            )
            // An index that is built later has the files under their new names.
            try await store.waitUntilIndexed()
            let files = FileManager.default
            func move(_ name: String, to other: String) throws {
                let collection = folder["data/documents/c"]
                try files.moveItem(atPath: "\(collection)/\(name).json", toPath: "\(collection)/\(other).json")
            }
            try move("a", to: "d")
            try move("b", to: "e")
            let renamed = try await commit(after: 1, store).changes.map { "\($0.path) \($0.after != nil)" }
            #expect(renamed.sorted() == ["c/a false", "c/b false", "c/d true", "c/e true"])
            let text = try folder.text(of: "data/documents/c/d.json")
            try move("d", to: "xd")
            try move("e", to: "f")
            let second = try await commit(after: 2, store).changes.map { "\($0.path) \($0.after != nil)" }
            #expect(second.sorted() == ["c/e false", "c/f true"])
            await eventually { (try? folder.text(of: "data/documents/c/d.json")) == text }
            await eventually { store.problemCount == 1 }
            #expect(try folder.names(in: "data/documents/c") == ["d.json", "f.json", "xd.json.rejected"])
            #expect(store.position.lastSequence == SequenceNumber(3))
        }
    }

    @Test
    func `Under rules, a renamed collection of many documents is renamed documents, though in several commits`() async throws {
        var fixture = fixture
        fixture.configuration.folderEditQuietTime = .milliseconds(500)
        let user = try #require(ProcessInfo.processInfo.userName as String?)
        fixture.configuration.folderEditAuthorization = { _, owner throws(StatusError) in
            // Nobody may remove anything.
            guard owner == user else { throw StatusError(.permissionDenied, "Missing or insufficient permissions.") }
            return Rules { _ in true }
        }
        let count = 600
        try await fixture.withStore { store in
            let writes = try (0..<count).map { number in
                Write(path: try DocumentPath("books/d\(number)"), operation: .replace(["n": .integer(Int64(number))]))
            }
            for part in [writes.prefix(400), writes.dropFirst(400)] { _ = try await store.commit(Array(part)) }
            try await store.waitUntilIndexed()
            let documents = folder["data/documents"]
            try FileManager.default.moveItem(atPath: "\(documents)/books", toPath: "\(documents)/library")
            var existence: [String: Bool] = [:]
            var sequence = SequenceNumber(2)
            while existence.count < 2 * count {
                let commit = try await commit(after: sequence.rawValue, store)
                sequence = commit.sequence
                let collections = Dictionary(grouping: commit.changes, by: \.path.collection.string).mapValues(\.count)
                #expect(commit.changes.count <= 500 && collections["books"] == collections["library"])
                for change in commit.changes { existence[change.path.string] = change.after != nil }
            }
            #expect(existence.allSatisfy { path, exists in path.hasPrefix("library/") == exists })
            #expect(!folder.exists("data/documents/books") && store.problemCount == 0)
        }
    }

    @Test
    func `Rules do not take an edit for a creation, because the version before it is not known`() async throws {
        var fixture = fixture
        // The journal of closed stores is gone.
        fixture.configuration.retentionAge = .zero
        fixture.configuration.retentionBytes = 0
        try await fixture.withStore { store in
            for number in 0..<200 { try await store.set("c/d\(number)", ["text": .string(String(repeating: "x", count: 1_000))]) }
            try await store.waitUntilIndexed()
        }
        fixture.configuration.folderEditAuthorization = { _, _ throws(StatusError) in Rules { _ in true } }
        try await fixture.withStore { store in
            let position = store.position.lastSequence
            try folder.write(#"{"n": 1}"#, to: "data/documents/c/d0.json")
            await eventually { store.problemCount == 1 }
            let problem = try #require(try await store.problems(limit: 10).problems.first)
            #expect(problem.kind == .waiting && problem.message.contains("The version before the edit is not known"))
            #expect(store.position.lastSequence == position)
        }
    }

    @Test(.enabled(if: ImmutableAttribute.isSupported))
    func `An edit that cannot be taken is reported until it can`() async throws {
        let fixture = try StoreFixture(in: TemporaryFolder.disk)
        var configured = fixture
        configured.configuration.takesFolderEdits = true
        configured.configuration.folderEditQuietTime = .seconds(2)
        try await configured.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let file = "data/documents/c/a.json"
            try fixture.folder.write(#"{"n": 2}"#, to: file)
            try ImmutableAttribute.set(true, fixture.folder[file])
            await eventually { store.problemCount == 1 }
            let problem = try #require(try await store.problems(limit: 10).problems.first)
            #expect(problem.kind == .waiting && problem.document?.string == "c/a" && problem.message.contains("chattr"))
            try ImmutableAttribute.set(false, fixture.folder[file])
            let commit = try await commit(after: 1, store)
            #expect(try commit.changes.first?.after?.decoded().fields == ["n": .integer(2)])
            await eventually { store.problemCount == 0 }
        }
    }

    @Test(.enabled(if: ImmutableAttribute.isSupported))
    func `An edit that could not be taken is taken when the store is closed, if it can`() async throws {
        var fixture = try StoreFixture(in: TemporaryFolder.disk)
        fixture.configuration.takesFolderEdits = true
        fixture.configuration.folderEditQuietTime = .seconds(2)
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            let file = "data/documents/c/a.json"
            try fixture.folder.write(#"{"n": 2}"#, to: file)
            try ImmutableAttribute.set(true, fixture.folder[file])
            await eventually { store.problemCount == 1 }
            try ImmutableAttribute.set(false, fixture.folder[file])
        }
        #expect(try await fixture.check("data").findings.isEmpty)
    }

    @Test
    func `A person can accept that many removed files are deletions`() async throws {
        var fixture = fixture
        fixture.configuration.maximumFolderDeletions = 5
        try await fixture.withStore { store in
            for number in 0..<10 { try await store.set("c/d\(number)", [:]) }
            try await store.set("other/x", [:])
            let files = FileManager.default
            try files.moveItem(atPath: folder["data/documents/c"], toPath: folder["away"])
            await eventually { store.problemCount == 1 }
            try await store.acceptRemovedFiles()
            await eventually { store.position.lastSequence == SequenceNumber(12) }
            #expect(try await commit(after: 11, store).changes.count == 10)
            await eventually { store.problemCount == 0 }
            // That was for once.
            for number in 0..<10 { try await store.set("c/d\(number)", [:]) }
            try files.moveItem(atPath: folder["data/documents/c"], toPath: folder["again"])
            await eventually { store.problemCount == 1 }
        }
    }

    @Test
    func `Commits and edits together leave files, index and journal that agree, and lose no edit`() async throws {
        let fixture = fixture
        let writerCount = 4
        let documentCount = 30
        try await fixture.withStore { store in
            try await withThrowingTaskGroup { group in
                for writer in 0..<writerCount {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(writer))
                        for number in 0..<150 {
                            let path = "c/d\(Int.random(in: 0..<documentCount, using: &random))"
                            if random.chance(10) {
                                try await store.delete(path)
                            } else {
                                try await store.set(path, ["w": .integer(Int64(number))])
                            }
                        }
                    }
                }
                // Documents that only edits write, whose values all have to be in the history.
                group.addTask {
                    for number in 0..<60 {
                        let name = "e\(number % 6)"
                        try fixture.folder.write(#"{"edit": \#(number)}"#, to: "data/documents/c/\(name).json")
                        try await Task.sleep(for: .milliseconds(40))
                    }
                }
                group.addTask {
                    var random = SeededGenerator(seed: 77)
                    for number in 0..<100 {
                        let file = "data/documents/c/d\(Int.random(in: 0..<documentCount, using: &random)).json"
                        if random.chance(20) {
                            try? fixture.folder.remove(file)
                        } else {
                            try fixture.folder.write(#"{"f": \#(number)}"#, to: file)
                        }
                        try await Task.sleep(for: .milliseconds(7))
                    }
                }
                try await group.waitForAll()
            }
            // The last edits.
            var position = store.position
            let folderEdits = try #require(store.folderEdits)
            func hasEdits() -> Bool { folderEdits.state.withLock { $0.uncommittedSince(start: 0) } != nil }
            repeat {
                position = store.position
                try await Task.sleep(for: folderEdits.isWatching ? .milliseconds(300) : .seconds(6))
            } while store.position != position || folderEdits.isWatching && hasEdits()
            // An edit that is saved while an earlier one is being committed is the next edit.
            #expect(try fixture.folder.names(in: "data/documents/c").filter { $0.hasPrefix("e") && !$0.hasSuffix(".json") } == [])
            let edits = try await store.firstCommits(Int(position.lastSequence.rawValue), after: .zero).flatMap(\.changes)
                .compactMap { try $0.after?.decoded().fields["edit"] }
            #expect(Set(edits).isSuperset(of: (54..<60).map { Value.integer(Int64($0)) }))
            // The journal's last versions are those of the files.
            var last: [DocumentPath: EncodedDocument] = [:]
            for commit in try await store.firstCommits(Int(position.lastSequence.rawValue), after: .zero) {
                for change in commit.changes { last[change.path] = change.after }
            }
            let listed = try await store.list("c").documents.compactMap { entry in
                if case .document(let document) = entry { document } else { nil }
            }
            #expect(Set(listed) == Set(last.values))
        }
        // Edits of the moment of a commit are kept beside the documents.
        #expect(try await fixture.check().findings.allSatisfy(\.isNotice))
    }
}

/// Rules that permit commits of writes that meet a condition.
private struct Rules: CommitAuthorization {
    let permits: @Sendable (ProposedWrite) -> Bool

    func authorize(
        _ writes: [ProposedWrite],
        at time: Timestamp,
        reading read: (DocumentPath) throws(StatusError) -> Document?
    ) throws(StatusError) {
        guard writes.allSatisfy(permits) else {
            throw StatusError(.permissionDenied, "Missing or insufficient permissions.")
        }
    }
}
