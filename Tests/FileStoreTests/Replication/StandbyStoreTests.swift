import DocumentModel
import DocumentStore
import Foundation
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import Journal

@Suite("Standbys of a store", .timeLimit(.minutes(10)))
struct StandbyStoreTests {
    @Test func `A snapshot of a store that is being written is as of one commit`() async throws {
        let fixture = try StandbyFixture()
        try await fixture.store.withStore { primary in
            for number in 0..<60 { try await StandbyFixture.set("c\(number % 3)/d\(number)", 0, in: primary) }
            let counter = Counter()
            let last = try await fixture.copy(primary, to: "copy") {
                let number = counter.next()
                try await StandbyFixture.set("c0/d\(number % 60)", Int64(number), in: primary)
                try await StandbyFixture.set("late/d\(number)", Int64(number), in: primary)
            }
            try await StandbyFixture.set("c0/after", 1, in: primary)
            let copy = try await fixture.openStandby(at: "copy")
            #expect(copy.position.lastSequence == last && copy.position.epoch == primary.position.epoch)
            for collection in ["c0", "c1", "c2", "late"] {
                let path = try CollectionPath(collection)
                let expected = try await primary.documents(
                    in: path,
                    after: nil,
                    limit: 1_000,
                    includingMissing: true,
                    readTime: copy.position.lastCommitTime
                )
                let found = try await copy.documents(
                    in: path,
                    after: nil,
                    limit: 1_000,
                    includingMissing: true,
                    readTime: nil
                )
                #expect(found.documents == expected.documents)
            }
            await copy.close()
        }
        let (_, findings) = try await fixture.store.check("copy")
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `A snapshot has the rules and the keys, but not the activity of the primary`() async throws {
        let fixture = try StandbyFixture()
        try await fixture.store.withStore { primary in
            for name in ["keys.json", "firestore.rules", "rules-history.json", "activity.samples"] {
                try fixture.store.folder.write("{}", to: "data/\(name)")
            }
            _ = try await fixture.copy(primary, to: "copy")
            try await fixture.openStandby(at: "copy").close()
        }
        let names = try fixture.store.folder.names(in: "copy")
        #expect(Set(names).isSuperset(of: ["keys.json", "firestore.rules", "rules-history.json"]))
        #expect(!names.contains("activity.samples"))
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)

        func next() -> Int {
            value.withLock { value in
                value += 1
                return value
            }
        }
    }

    @Test func `Commits of the primary are applied with its numbers, times and before-images, and others are not`() async throws {
        let fixture = try StandbyFixture()
        try await fixture.store.withStore { primary in
            try await StandbyFixture.set("books/a", 1, in: primary)
            _ = try await fixture.copy(primary, to: "copy")
            let copy = try await fixture.openStandby(at: "copy")
            let start = copy.position.lastSequence
            try await StandbyFixture.set("books/a", 2, in: primary)
            _ = try await primary.commit([.delete(DocumentPath("books/a"))], validating: ReadSet(), by: nil)
            let many = try (0..<600).map { try Write.set(DocumentPath("many/d\($0)"), ["n": .integer(Int64($0))]) }
            _ = try await primary.commit(many, validating: ReadSet(), by: nil)
            try await StandbyFixture.set("books/b", 3, in: primary)
            let commits = try await StandbyFixture.commits(of: primary, after: start)
            #expect(commits.count == 4)

            // A gap, a repetition, and a time that goes back.
            let stale = Commit(sequence: start.next, time: copy.position.lastCommitTime ?? .minimum, changes: commits[0].changes)
            for wrong in [[commits[1]], [commits[0], commits[0]], [stale]] {
                await #expect(throws: StatusError.self) { try await copy.commitQueue.apply(wrong) }
            }
            // The first of the repeated ones fits.
            #expect(copy.position.lastSequence == start.next || copy.position.lastSequence == start)
            let rest = commits.filter { $0.sequence > copy.position.lastSequence }
            try await copy.commitQueue.apply(rest)
            #expect(copy.position.lastSequence == primary.position.lastSequence)
            #expect(copy.position.lastCommitTime == primary.position.lastCommitTime)
            #expect(try await StandbyFixture.commits(of: copy, after: start) == commits)
            #expect(try await StandbyFixture.number("books/b", in: copy) == .integer(3))
            #expect(try await StandbyFixture.number("books/a", in: copy) == nil)
            #expect(try await StandbyFixture.number("many/d599", in: copy) == .integer(599))
            #expect(try await StandbyFixture.number("books/a", in: copy, readTime: commits[0].time) == .integer(2))

            // Others do not write, and a read can't promise what the primary decides.
            let error = await #expect(throws: StatusError.self) { try await StandbyFixture.set("books/c", 1, in: copy) }
            #expect(error?.code == .failedPrecondition && error?.message.contains("http://primary") == true)
            await #expect(throws: StatusError.self) {
                try await StandbyFixture.number("books/b", in: copy, readTime: .current())
            }
            try await copy.waitUntilIndexed()
            #expect(try await copy.size(of: nil).documentCount == 601)
            await copy.close()
        }
        let (_, findings) = try await fixture.store.check("copy")
        #expect(findings.isEmpty, "\(findings)")
    }

    /// The parts of a snapshot in the order in which they are installed, and whether the old part has been moved away only.
    private static let interruptions: [(installed: Int, isHalf: Bool)] = (0...3).flatMap { [($0, false), ($0, true)] }

    @Test(arguments: interruptions.indices)
    func `An installation that was interrupted at any step is continued`(index: Int) async throws {
        let (installed, isHalf) = Self.interruptions[index]
        let fixture = try StandbyFixture()
        try await fixture.store.withStore { primary in
            try await StandbyFixture.set("books/a", 1, in: primary)
            _ = try await fixture.copy(primary, to: "copy")
            let copy = try await fixture.openStandby(at: "copy")
            await copy.close()
            try await StandbyFixture.set("books/a", 2, in: primary)
            try await StandbyFixture.set("books/b", 2, in: primary)
            _ = try await primary.changeIndexes(.exempt(IndexExemption(collection: CollectionID("books"), field: FieldPath("n"))))
            _ = try await fixture.copy(primary, to: "copy")

            let root = URL(filePath: fixture.store.folder["copy"])
            let standby = root.appending(path: "standby")
            let replaced = standby.appending(path: "replaced")
            try FileManager.default.createDirectory(at: replaced, withIntermediateDirectories: true)
            let parts = ["documents", "journal", "indexes.json", "hearth.json"]
            for (number, part) in parts.enumerated() where number < installed || number == installed && isHalf {
                let path = root.appending(path: part)
                if FileManager.default.fileExists(atPath: path.path) {
                    try FileManager.default.moveItem(at: path, to: replaced.appending(path: part))
                }
                guard number < installed else { continue }
                try FileManager.default.moveItem(at: standby.appending(path: "install/\(part)"), to: path)
            }
            let again = try await fixture.openStandby(at: "copy")
            #expect(try await StandbyFixture.number("books/a", in: again) == .integer(2))
            #expect(try await StandbyFixture.number("books/b", in: again) == .integer(2))
            #expect(again.position.lastSequence == primary.position.lastSequence)
            #expect(await again.indexes().exemptions.count == 1)
            await again.close()
            #expect(!FileManager.default.fileExists(atPath: standby.appending(path: "install").path))
        }
        let (_, findings) = try await fixture.store.check("copy")
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test(arguments: [
        "../x", "/x", "documents/../../x", "documents//x", "documents/./x", "", "journal/x", "hearth.lock",
        "standby/standby.json",
        // A slash before or after these characters is none of its own.
        "documents/..\u{2f}\u{338}x", "documents/\u{600}/../../x", "..\u{2f}\u{338}\u{600}/x",
        "documents/.hearth-a.tmp", "databases/a/b/hearth.json", "index.sqlite", "documents/a\0b", "backup.json",
    ])
    func `A snapshot writes no other files than those of a database`(path: String) async throws {
        let fixture = try StandbyFixture()
        let receiver = try StandbyDataFolder.makeReceiver(inFolder: fixture.store.folder["copy"])
        let part = SnapshotPart(path: path, modifiedTime: 0, offset: 0, bytes: [1])
        let error = await #expect(throws: StatusError.self) { try await receiver.write(part) }
        #expect(error?.code == .dataLoss)
        await #expect(throws: StatusError.self) { try await receiver.finish() }
        let files = try FileManager.default.subpathsOfDirectory(atPath: fixture.store.folder["copy"]).sorted()
        #expect(files == ["standby", "standby/incoming", "standby/incoming/documents", "standby/incoming/journal"])
    }

    @Test func `A promoted folder goes on with a branch, also after an interruption, and with its index`() async throws {
        let fixture = try StandbyFixture()
        let path = fixture.store.folder["copy"]
        try await fixture.store.withStore { primary in
            for number in 0..<5 { try await StandbyFixture.set("books/b\(number)", Int64(number), in: primary) }
            _ = try await fixture.copy(primary, to: "copy")
            let copy = try await fixture.openStandby(at: "copy")
            try await copy.waitUntilIndexed()
            await copy.close()
            let segments = URL(filePath: path + "/journal")
            let before = segments.deletingLastPathComponent().appending(path: "before")
            try FileManager.default.copyItem(at: segments, to: before)

            var record = StandbyRecord(primary: "http://primary", state: .following)
            try record.write(toFolder: path)
            try await Promotion.run(inFolder: path, logger: .silent)
            record = try #require(try StandbyRecord(ofFolder: path))
            #expect(record.state == .promoted)
            await #expect(throws: StatusError.self) { try await Promotion.run(inFolder: path, logger: .silent) }

            // As if the power had failed before the segments were given the new epoch.
            try FileManager.default.removeItem(at: segments)
            try FileManager.default.moveItem(at: before, to: segments)
            let promoted = try await fixture.store.open(at: "copy")
            let position = promoted.position
            #expect(position.epoch != primary.position.epoch)
            #expect(position.lineage.map(\.lastSequence) == [primary.position.lastSequence])
            #expect(position.lineage.map(\.epoch.description) == [primary.position.epoch])
            try await StandbyFixture.set("books/new", 9, in: promoted)
            // The history before the branch is that of the primary.
            let commits = try await StandbyFixture.commits(of: promoted, after: .zero)
            #expect(commits.map(\.sequence.rawValue) == [1, 2, 3, 4, 5, 6])
            #expect(Array(commits.prefix(5)) == (try await StandbyFixture.commits(of: primary, after: .zero)))
            await promoted.close()
        }
        let (_, findings) = try await fixture.store.check("copy")
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `A promotion that has been begun stays begun, whatever the standby records meanwhile`() async throws {
        let fixture = try StandbyFixture()
        let path = fixture.store.folder["copy"]
        try await fixture.store.withStore { primary in _ = try await fixture.copy(primary, to: "copy") }
        try await fixture.openStandby(at: "copy").close()
        let replication = FileHostReplication(path: path, databases: try await DatabaseFolders.open(inFolder: path))
        for _ in 0..<20 {
            var record = StandbyRecord(primary: "http://primary", state: .following)
            record.consecutiveSnapshotCount = 2
            try record.write(toFolder: path)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await replication.recordCaughtUp() }
                group.addTask { try await replication.promote() }
                group.addTask { try await replication.recordFollowing("http://primary") }
                try await group.waitForAll()
            }
            try await replication.recordFollowing("http://primary")
            try await replication.recordCaughtUp()
            #expect(try StandbyRecord(ofFolder: path)?.state == .promoting)
        }
    }

    @Test func `Of several promotions at once, one promotes`() async throws {
        let fixture = try StandbyFixture()
        let path = fixture.store.folder["copy"]
        try await fixture.store.withStore { primary in
            for number in 0..<5 { try await StandbyFixture.set("books/b\(number)", Int64(number), in: primary) }
            _ = try await fixture.copy(primary, to: "copy")
        }
        try StandbyRecord(primary: "http://primary", state: .following).write(toFolder: path)
        let results = await withTaskGroup(of: StatusError?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do throws(StatusError) {
                        try await Promotion.run(inFolder: path, logger: .silent)
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == nil }.count == 1)
        #expect(results.allSatisfy { $0 == nil || $0?.code == .failedPrecondition }, "\(results)")
        #expect(try StandbyRecord(ofFolder: path)?.state == .promoted)
        let promoted = try await fixture.store.open(at: "copy")
        #expect(promoted.position.lineage.count == 1)
        await promoted.close()
    }

    @Test func `A folder with a snapshot to be installed is not checked`() async throws {
        let fixture = try StandbyFixture()
        try await fixture.store.withStore { primary in
            try await StandbyFixture.set("books/a", 1, in: primary)
            _ = try await fixture.copy(primary, to: "copy")
            let error = await #expect(throws: StatusError.self) { try await fixture.store.check("copy") }
            #expect(error?.code == .failedPrecondition && error?.message.contains("is not complete") == true)
            try await fixture.openStandby(at: "copy").close()
        }
        let (_, findings) = try await fixture.store.check("copy")
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `A segment without a record belongs to the branch`() async throws {
        let fixture = try StandbyFixture()
        let path = fixture.store.folder["copy"]
        try await fixture.store.withStore { primary in
            for number in 0..<3 { try await StandbyFixture.set("books/b\(number)", Int64(number), in: primary) }
            _ = try await fixture.copy(primary, to: "copy")
            let copy = try await fixture.openStandby(at: "copy")
            await copy.close()
            // As if the process had been killed before the first record of a new segment.
            let epoch = try #require(Epoch(primary.position.epoch))
            let name = JournalSegment.name(first: SequenceNumber(4))
            let header = JournalSegment.header(epoch: epoch, first: SequenceNumber(4))
            try Data(header).write(to: URL(filePath: path + "/journal/" + name))
            try StandbyRecord(primary: "http://primary", state: .following).write(toFolder: path)
            try await Promotion.run(inFolder: path, logger: .silent)
            let promoted = try await fixture.store.open(at: "copy")
            #expect(promoted.position.lastSequence == SequenceNumber(3))
            try await StandbyFixture.set("books/new", 9, in: promoted)
            await promoted.close()
        }
        let (_, findings) = try await fixture.store.check("copy")
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `An additional database that cannot be opened is promoted later, and is closed until then`() async throws {
        let fixture = try StandbyFixture()
        let path = fixture.store.folder["data"]
        let id = try DatabaseID("shop/tests", inProject: DatabaseID.standard.project)
        var configuration = fixture.store.configuration
        configuration.folder = path
        var host = try await FileStoreHost.open(configuration, logger: .silent)
        var store = try await host.open(DatabaseIdentity(id))
        let epoch = store.position.epoch
        await store.close()
        await host.close()
        let manifest = URL(filePath: path + "/databases/shop/tests/hearth.json")
        let bytes = try Data(contentsOf: manifest)
        try Data("damaged".utf8).write(to: manifest)
        try StandbyRecord(primary: "http://primary", state: .following).write(toFolder: path)
        try await Promotion.run(inFolder: path, logger: .silent)
        #expect(try StandbyRecord(ofFolder: path)?.state == .promoted)
        #expect(try StandbyRecord(ofFolder: path)?.unpromoted == [id])

        try bytes.write(to: manifest)
        host = try await FileStoreHost.open(configuration, logger: .silent)
        let error = await #expect(throws: StatusError.self) { _ = try await host.open(DatabaseIdentity(id)) }
        #expect(error?.code == .failedPrecondition)
        await host.close()
        #expect(try await !Promotion.complete(inFolder: path, logger: .silent))
        #expect(try StandbyRecord(ofFolder: path)?.unpromoted == [])
        host = try await FileStoreHost.open(configuration, logger: .silent)
        store = try await host.open(DatabaseIdentity(id))
        #expect(store.position.lineage.map(\.epoch.description) == [epoch])
        await store.close()
        await host.close()
    }
}
