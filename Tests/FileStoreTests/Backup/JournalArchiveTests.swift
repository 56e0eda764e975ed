import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import Journal

@Suite("Archive of the journal") struct JournalArchiveTests {
    private let fixture: BackupFixture

    init() throws {
        fixture = try BackupFixture()
    }

    /// A store with small segments, of which few are retained.
    private var store: StoreFixture {
        var store = fixture.store
        store.configuration.segmentBytes = 4 << 10
        store.configuration.checkpointBytes = 4 << 10
        store.configuration.retentionBytes = 12 << 10
        return store
    }

    private func write(_ numbers: Range<Int>, to host: FileStoreHost) async throws {
        for number in numbers {
            try await host.defaultStore.set("books/b\(number % 7)", ["n": .integer(Int64(number)), "text": .string("some text")])
        }
    }

    /// Loses the data folder, and restores the first backup and what was archived after it.
    private func restoreAll(_ backup: Backup) async throws -> RestoreReport.Database {
        let report = try await fixture.restore(backup, asOf: .time(.current()))
        return try #require(report.databases.first)
    }

    @Test func `What was archived survives the loss of the data folder`() async throws {
        var host = try await fixture.open(store)
        try await write(0..<5, to: host)
        let backup = try await fixture.makeBackup(of: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        // Several runs of the server, which each archive in steps.
        for run in 0..<3 {
            for step in 0..<6 {
                let start = 5 + run * 300 + step * 50
                try await write(start..<start + 50, to: host)
                try await host.backups?.archiveJournal(of: host.defaultStore)
            }
            await host.close()
            host = try await fixture.open(store)
            try await host.backups?.archiveJournal(of: host.defaultStore)
        }
        let archived = host.defaultStore.position.lastSequence
        try await write(1_000..<1_010, to: host)
        await host.close()
        try fixture.store.folder.remove("data")

        let restored = try await restoreAll(backup)
        #expect(restored.lastSequence == archived)
        #expect(restored.isLastKnownCommit)
        try await fixture.store.withStore(at: "restored") { store in
            for number in 898..<905 {
                let fields = try await store.fields("books/b\(number % 7)")
                #expect(fields?["n"] == .integer(Int64(number)))
            }
        }
    }

    @Test func `A file that was removed from the archive, or cut, is written anew`() async throws {
        let host = try await fixture.open(store)
        try await write(0..<5, to: host)
        let backup = try await fixture.makeBackup(of: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        try fixture.store.folder.remove("backups/journals")
        try await write(5..<6, to: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        let epoch = try #require(backup.databases.first).epoch
        let names = try fixture.store.folder.names(in: "backups/journals/\(epoch)")
        let file = try FileHandle(forUpdating: URL(filePath: fixture.store.folder["backups/journals/\(epoch)/\(names[0])"]))
        try file.truncate(atOffset: 100)
        try file.close()
        try await write(6..<7, to: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        let archived = host.defaultStore.position.lastSequence
        await host.close()
        try fixture.store.folder.remove("data")
        #expect(try await restoreAll(backup).lastSequence == archived)
    }

    @Test func `A restore says that the archive has databases that the backup does not have`() async throws {
        let host = try await fixture.open(store)
        try await write(0..<5, to: host)
        let backup = try await fixture.makeBackup(of: host)
        let later = try await host.open(DatabaseIdentity(DatabaseID("shop/later", inProject: "hearth")))
        try await later.set("c/d", [:])
        try await host.backups?.archiveJournal(of: host.defaultStore)
        try await host.backups?.archiveJournal(of: later)
        await later.close()
        await host.close()
        #expect(try await fixture.restore(backup, asOf: .time(.current())).missingCount == 1)
        #expect(try await fixture.restore(backup, to: "as-of-backup").missingCount == 0)
    }

    @Test func `What is not archived yet is kept in the journal`() async throws {
        let host = try await fixture.open(store)
        try await write(0..<5, to: host)
        let backup = try await fixture.makeBackup(of: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        // Far more than is retained otherwise.
        try await write(5..<600, to: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        let last = host.defaultStore.position.lastSequence
        await host.close()
        try fixture.store.folder.remove("data")
        #expect(try await restoreAll(backup).lastSequence == last)
    }

    @Test func `A torn end of the archive is written anew, and damage ends it`() async throws {
        var host = try await fixture.open(store)
        try await write(0..<5, to: host)
        let backup = try await fixture.makeBackup(of: host)
        try await write(5..<20, to: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        await host.close()
        let epoch = try #require(backup.databases.first).epoch
        let folder = "backups/journals/\(epoch)"
        let file = try #require(try fixture.store.folder.names(in: folder).max())
        let bytes = try fixture.store.folder.bytes(of: "\(folder)/\(file)")
        try fixture.store.folder.write(Array(bytes.dropLast(10)), to: "\(folder)/\(file)")
        #expect(try await restoreAll(backup).lastSequence.rawValue == 19)
        try fixture.store.folder.remove("restored")

        host = try await fixture.open(store)
        try await write(20..<25, to: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        await host.close()
        #expect(try await restoreAll(backup).lastSequence.rawValue == 25)
    }

    @Test func `Pruning removes what no backup needs`() async throws {
        let host = try await fixture.open(store)
        try await write(0..<5, to: host)
        _ = try await fixture.makeBackup(of: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        try await write(5..<400, to: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        let second = try await fixture.makeBackup(of: host)
        let epoch = try #require(second.databases.first).epoch
        let old = "backups/journals/\(Epoch.random())"
        try FileManager.default.createDirectory(atPath: fixture.store.folder[old], withIntermediateDirectories: false)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)],
            ofItemAtPath: fixture.store.folder[old]
        )
        let before = try fixture.store.folder.names(in: "backups/journals/\(epoch)")
        // One whose manifest is damaged may need any of them.
        try FileManager.default.createDirectory(
            atPath: fixture.store.folder["backups/damaged"],
            withIntermediateDirectories: false
        )
        try fixture.store.folder.write("{}", to: "backups/damaged/backup.json")
        #expect(try await host.backups?.prune(keeping: 1).count == 1)
        #expect(try fixture.store.folder.names(in: "backups/journals/\(epoch)") == before && fixture.store.folder.exists(old))
        try fixture.store.folder.remove("backups/damaged")
        _ = try await host.backups?.prune(keeping: 1)
        let after = try fixture.store.folder.names(in: "backups/journals/\(epoch)")
        #expect(before.count > 3)
        #expect(after == [before.max()])
        #expect(!fixture.store.folder.exists(old))
        try await write(400..<450, to: host)
        try await host.backups?.archiveJournal(of: host.defaultStore)
        let last = host.defaultStore.position.lastSequence
        await host.close()
        #expect(try await restoreAll(second).lastSequence == last)
    }
}
