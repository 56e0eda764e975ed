import DocumentModel
import DocumentStore
import Foundation
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
            try FileManager.default.removeItem(atPath: folder["data/documents/c/a.json"])
            try FileManager.default.moveItem(
                atPath: folder["data/documents/c/a.json.rejected"],
                toPath: folder["data/documents/c/a.json"]
            )
            let commit = try await commit(after: 1, store)
            #expect(try commit.changes.first?.after?.decoded().fields == ["n": .integer(5)])
            #expect(store.problemCount == 0)
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
            #expect(try await store.problems(limit: 10).problems.map(\.kind) == [.conflict])
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
    func `While removed files wait for a person, those that are put back in parts delete nothing`() async throws {
        var fixture = fixture
        fixture.configuration.maximumFolderDeletions = 5
        try await fixture.withStore { store in
            for collection in ["c", "e"] {
                for number in 0..<4 { try await store.set("\(collection)/d\(number)", [:]) }
            }
            try await store.waitUntilIndexed()
            try folder.write("", to: "away/.keep")
            let files = FileManager.default
            for name in ["c", "e"] {
                try files.moveItem(atPath: folder["data/documents/\(name)"], toPath: folder["away/\(name)"])
            }
            await eventually { store.problemCount == 1 }
            try files.moveItem(atPath: folder["away/c"], toPath: folder["data/documents/c"])
            // Four files are missing still, fewer than the limit.
            while try await store.problems(limit: 1).problems.first?.message.hasPrefix("4 ") != true {
                try await Task.sleep(for: .milliseconds(5))
            }
            try files.moveItem(atPath: folder["away/e"], toPath: folder["data/documents/e"])
            await eventually { store.problemCount == 0 }
            #expect(store.position.lastSequence == SequenceNumber(8))
            try folder.remove("data/documents/e/d0.json")
            #expect(try await commit(after: 8, store).changes.map(\.path.string) == ["e/d0"])
        }
    }

    @Test
    func `A person can accept that many removed files are deletions`() async throws {
        var fixture = fixture
        fixture.configuration.maximumFolderDeletions = 5
        try await fixture.withStore { store in
            for number in 0..<10 { try await store.set("c/d\(number)", [:]) }
            try await store.set("other/x", [:])
            try folder.remove("data/documents/c")
            await eventually { store.problemCount == 1 }
            try await store.acceptRemovedFiles()
            await eventually { store.position.lastSequence == SequenceNumber(12) }
            #expect(try await commit(after: 11, store).changes.count == 10)
            await eventually { store.problemCount == 0 }
            // That was for once.
            for number in 0..<10 { try await store.set("c/d\(number)", [:]) }
            try folder.remove("data/documents/c")
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
            repeat {
                position = store.position
                try await Task.sleep(for: store.folderEdits?.isWatching == true ? .milliseconds(300) : .seconds(6))
            } while store.position != position
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
