import DocumentModel
import DocumentStore
import DocumentStoreConformance
import Foundation
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Receipts of commits", .timeLimit(.minutes(10)))
struct CommitReceiptTests {
    private var fixture: StoreFixture
    private let client = CommitClient()

    init() throws {
        fixture = try StoreFixture()
    }

    /// Expects that the client's first two commits are recognized, and that its next one is applied.
    private func expectRecognition(by store: FileStore, number: UInt64, last: CommitResult) async throws {
        #expect(try await client.increment(in: store, number: number, after: number - 1) == last.replayed)
        let before = try await store.fields("c/counter")?["v"]
        #expect(
            await client.failure(in: store, number: number - 1, after: 0)?.identityMismatch == .forgotten(expected: number + 1)
        )
        #expect(try await store.fields("c/counter")?["v"] == before)
        try await client.increment(in: store, number: number + 1, after: number)
        #expect(try await store.fields("c/counter")?["v"] == .integer(Int64(number) + 1))
    }

    @Test func `Commits are recognized after a restart, when their journal has been removed, too`() async throws {
        var fixture = fixture
        fixture.configuration.checkpointBytes = 0
        fixture.configuration.retentionAge = .zero
        fixture.configuration.retentionBytes = 0
        let last = try await fixture.withStore { store in
            try await client.increment(in: store, number: 1)
            let last = try await client.increment(in: store, number: 2, after: 1)
            let text = Value.string(String(repeating: "x", count: 10_000))
            for number in 0..<50 { try await store.set("c/d", ["n": .integer(Int64(number)), "t": text]) }
            return last
        }
        try await fixture.withStore { store in
            await #expect(throws: StatusError.self) { _ = try await store.commits(after: SequenceNumber(0)).firstBatch() }
            try await expectRecognition(by: store, number: 2, last: last)
        }
    }

    @Test(arguments: [1, 2, 1_000])
    func `Commits are recognized after a crash, wherever the last checkpoint was`(checkpointDocuments: Int) async throws {
        var fixture = fixture
        fixture.configuration.checkpointDocuments = checkpointDocuments
        let store = try await fixture.open()
        try await client.increment(in: store, number: 1)
        try await client.increment(in: store, number: 2, after: 1)
        if checkpointDocuments <= 2 { await store.waitForCheckpoint() }
        let last = try await client.increment(in: store, number: 3, after: 2)
        if checkpointDocuments == 1 { await store.waitForCheckpoint() }
        try fixture.folder.copy("data", to: "copy")
        await store.close()
        // The second crash follows right after the recovery from the first one.
        let recovered = try await fixture.open(at: "copy")
        try fixture.folder.copy("copy", to: "second")
        await recovered.close()
        for folder in ["copy", "second"] {
            try await fixture.withStore(at: folder) { try await expectRecognition(by: $0, number: 3, last: last) }
        }
    }

    @Test func `The file is written only once a client has identified a commit`() async throws {
        let path = fixture.folder["data/\(StoredReceipts.fileName)"]
        try await fixture.withStore { try await $0.set("c/a", [:]) }
        #expect(!FileManager.default.fileExists(atPath: path))
        try await fixture.withStore { try await client.increment(in: $0, number: 1) }
        #expect(FileManager.default.fileExists(atPath: path))
        let (_, findings) = try await fixture.check()
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test(arguments: ["", "{}\n", "truncated", "flipped", "line", "missing", "foreign"])
    func `A damaged file is set aside, and the receipts are those in the journal`(damage: String) async throws {
        let last = try await fixture.withStore { store in
            try await client.increment(in: store, number: 1)
            return try await client.increment(in: store, number: 2, after: 1)
        }
        let file = URL(filePath: fixture.folder["data/\(StoredReceipts.fileName)"])
        var bytes = try Data(contentsOf: file)
        switch damage {
        case "missing", "foreign": break
        case "truncated": bytes = bytes.dropLast(20)
        case "flipped": bytes[bytes.count - 20] ^= 1
        case "line":
            // With the right checksum.
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            let clients = Array(try #require(lines.last)) + Array("\n{\"client\":0}\n".utf8)
            let checksum = clients.withUnsafeBytes(CRC32C.checksum)
            let bytesOfChecksum = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: checksum >> $0) }
            let digits = Hexadecimal.encode(bytesOfChecksum)
            bytes = Data("{\"version\":1,\"sequence\":2,\"crc32c\":\"\(digits)\"}\n".utf8) + clients
        default: bytes = Data(damage.utf8)
        }
        if damage == "foreign" {
            // Of a database with more commits.
            try await fixture.withStore(at: "other") { store in
                for number in 1...9 { try await store.set("c/d", ["n": .integer(Int64(number))]) }
                try await CommitClient().increment(in: store, number: 1)
            }
            bytes = try Data(contentsOf: URL(filePath: fixture.folder["other/\(StoredReceipts.fileName)"]))
        }
        try bytes.write(to: file)
        if damage == "missing" { try FileManager.default.removeItem(at: file) }
        let found = try await fixture.check().findings
        #expect(found.map(\.kind) == [.damagedReceipts] && !found.contains { $0.isNotice }, "\(found)")
        let line = damage == "line" ? 3 : 1
        #expect(found.first?.file == StatusError.FileLocation(path: StoredReceipts.fileName, line: line, column: 1))
        let log = WarningLog()
        try await fixture.withStore(logger: log.logger) { store in
            #expect(log.entries.contains { $0.message.hasPrefix("The receipts of commits cannot be used") })
            try await expectRecognition(by: store, number: 2, last: last)
        }
        if damage == "missing" { return }
        let aside = try Data(contentsOf: URL(filePath: fixture.folder["data/\(StoredReceipts.fileName).aside-1"]))
        #expect(aside == bytes)
        let (_, findings) = try await fixture.check()
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `A backup, and what is restored of it, recognize the commits that they have`() async throws {
        let fixture = try BackupFixture()
        var checkpointing = fixture.store
        checkpointing.configuration.checkpointDocuments = 2
        let host = try await fixture.open(checkpointing)
        let store = host.defaultFileStore
        try await store.set("c/a", [:])
        try await client.increment(in: store, number: 1)
        await store.waitForCheckpoint()
        let last = try await client.increment(in: store, number: 2, after: 1)
        let backup = try await fixture.makeBackup(of: host)
        let later = try await client.increment(in: store, number: 3, after: 2)
        await host.close()
        let restored = try await fixture.restore(backup)
        #expect(restored.databases.count == 1)
        let complete = try await fixture.restore(backup, asOf: .time(later.commitTime), to: "complete", previous: "data")
        #expect(complete.databases.first?.lastSequence == later.sequence)
        #expect(try await fixture.faults(of: backup.name) == [])
        try fixture.store.folder.copy("backups/\(backup.name)", to: "copy")
        for folder in ["copy", "restored"] {
            try await fixture.store.withStore(at: folder) { try await expectRecognition(by: $0, number: 2, last: last) }
        }
        try await fixture.store.withStore(at: "complete") { try await expectRecognition(by: $0, number: 3, last: later) }
    }

    @Test func `A standby has the receipts of its primary`() async throws {
        var fixture = try StandbyFixture()
        fixture.store.configuration.checkpointDocuments = 2
        let last = try await fixture.store.withStore { primary in
            try await primary.set("c/a", [:])
            try await client.increment(in: primary, number: 1)
            await primary.waitForCheckpoint()
            _ = try await fixture.copy(primary, to: "copy")
            let last = try await client.increment(in: primary, number: 2, after: 1)
            let standby = try await fixture.openStandby(at: "copy")
            // It makes no commits of its own, not even one that would change nothing.
            let position = standby.position
            #expect(await client.failure(in: standby, number: 2, after: 1)?.code == .failedPrecondition)
            await #expect(throws: StatusError.self) {
                try await CommitClient().commit([], in: standby, number: 1)
            }
            #expect(standby.position == position)
            let commits = try await StandbyFixture.commits(of: primary, after: standby.position.lastSequence)
            try await standby.commitQueue.apply(commits)
            await standby.close()
            return last
        }
        try await fixture.store.withStore(at: "copy") { try await expectRecognition(by: $0, number: 2, last: last) }
    }

    @Test func `A commit that changed nothing is in the journal, and hidden from histories`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/a", ["v": .integer(1)])
            let write = try Write.set(DocumentPath("c/a"), ["v": .integer(1)])
            _ = try await client.commit([write], in: store, number: 1)
            try await store.waitUntilIndexed()
            #expect(try await store.safePosition().lastSequence == SequenceNumber(2))
            #expect(try await store.history(of: DocumentPath("c/a"), before: nil, limit: 10).versions.count == 1)
        }
        let (_, findings) = try await fixture.check()
        #expect(findings.isEmpty, "\(findings)")
    }
}
