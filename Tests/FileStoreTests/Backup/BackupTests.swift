import DocumentModel
import DocumentStore
import Foundation
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Backups") struct BackupTests {
    private let fixture: BackupFixture

    /// The number of backups that are made under load. `HEARTH_BACKUP_COUNT` sets it.
    private static let backupCount = ProcessInfo.processInfo.environment["HEARTH_BACKUP_COUNT"].flatMap { Int($0) } ?? 8

    init() throws {
        fixture = try BackupFixture()
    }

    @Test(.timeLimit(.minutes(10))) func `Under load, each backup is as of one commit`() async throws {
        var store = fixture.store
        // Frequent checkpoints, so that backups begin between them.
        store.configuration.checkpointDocuments = 100
        store.configuration.segmentBytes = 8 << 10
        let host = try await fixture.open(store)
        let backups = try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 { group.addTask { try await Self.write(as: writer, to: host.defaultStore) } }
            var backups: [Backup] = []
            for _ in 0..<Self.backupCount {
                let before = host.defaultStore.position.lastSequence
                let backup = try await fixture.makeBackup(of: host)
                let state = try #require(backup.databases.first)
                #expect(state.lastSequence >= before)
                backups.append(backup)
            }
            group.cancelAll()
            return backups
        }
        let commits = try await host.defaultStore.firstCommits(
            Int(host.defaultStore.position.lastSequence.rawValue),
            after: .zero
        )
        await host.close()
        for backup in backups {
            let last = try #require(backup.databases.first).lastSequence
            var expected: [DocumentPath: EncodedDocument] = [:]
            for commit in commits.prefix(Int(last.rawValue)) {
                for change in commit.changes { expected[change.path] = change.after }
            }
            let folder = "backups/\(backup.name)"
            let found = try await fixture.documents(in: folder)
            #expect(found == expected, "as of \(last)")
            // Without a journal to recover, and without a file of a later commit.
            let (report, findings) = try await store.check(folder)
            #expect(findings.isEmpty, "\(findings)")
            #expect(report.documents == expected.count)
            #expect(report.commits == Int(last.rawValue))
            #expect(try await fixture.faults(of: backup.name) == [])
        }
    }

    @Test func `Documents that have not changed take no space in the next backup`() async throws {
        let host = try await fixture.open()
        for id in ["a", "b", "c"] { try await host.defaultStore.set("books/\(id)", ["n": .integer(1)]) }
        let first = try await fixture.makeBackup(of: host)
        try await host.defaultStore.set("books/b", ["n": .integer(2)])
        try await host.defaultStore.delete("books/c")
        let second = try await fixture.makeBackup(of: host)
        await host.close()
        let inodes = try [first, second].map { backup in
            try ["a", "b"].map { try fixture.inode(of: "backups/\(backup.name)/documents/books/\($0).json") }
        }
        #expect(inodes[0][0] == inodes[1][0])
        #expect(inodes[0][1] != inodes[1][1])
        #expect(try fixture.store.folder.names(in: "backups/\(second.name)/documents/books") == ["a.json", "b.json"])
        #expect(try fixture.store.folder.names(in: "backups/\(first.name)/documents/books") == ["a.json", "b.json", "c.json"])
    }

    @Test func `A backup has the definitions, the rules and, if wanted, the keys`() async throws {
        let host = try await fixture.open()
        try await host.defaultStore.set("books/a", [:])
        _ = try await host.defaultStore.changeIndexes(
            .exempt(IndexExemption(collection: CollectionID("books"), field: FieldPath("text")))
        )
        for name in ["keys.json", "firestore.rules", "rules-history.json", "activity.samples"] {
            try fixture.store.folder.write("{}", to: "data/\(name)")
        }
        try fixture.store.folder.write("a note", to: "data/documents/README")
        let names = try await [false, true].asyncMap { includesKeys in
            let backup = try await fixture.makeBackup(of: host, includingKeys: includesKeys)
            #expect(try fixture.store.folder.text(of: "backups/\(backup.name)/documents/README") == "a note")
            return try fixture.store.folder.names(in: "backups/\(backup.name)")
        }
        await host.close()
        let common = [
            "SHA256SUMS", "backup.json", "documents", "firestore.rules", "hearth.json", "indexes.json", "journal",
            "rules-history.json",
        ]
        #expect(names[0].sorted() == common.sorted())
        #expect(names[1].sorted() == (common + ["keys.json"]).sorted())
    }

    @Test func `The last verification of each backup is recorded, with its faults, until the backup is removed`() async throws {
        let host = try await fixture.open()
        let backups = try #require(host.backups)
        func verify(_ backup: Backup) async throws(StatusError) {
            try await backups.verify(backup.name, onFile: {}, onFault: { _ in })
        }
        var made: [Backup] = []
        for number in 0..<2 {
            try await host.defaultStore.set("books/a", ["n": .integer(Int64(number))])
            made.append(try await fixture.makeBackup(of: host))
        }
        for backup in made { try await verify(backup) }
        let first = try await backups.verifications()
        #expect(first.latest.map(\.backup) == made.map(\.name) && first.latest.map(\.faultCount) == [0, 0])
        #expect(first.lastSuccess == first.latest(of: made[1]))
        // A file that is altered, and a list that is missing.
        let file = fixture.store.folder["backups/\(made[0].name)/documents/books/a.json"]
        try "{}".write(toFile: file, atomically: true, encoding: .utf8)
        try await verify(made[0])
        try fixture.store.folder.remove("backups/\(made[1].name)/SHA256SUMS")
        await expectStatus(.dataLoss) { try await verify(made[1]) }
        let second = try await backups.verifications()
        #expect(made.map { second.latest(of: $0)?.faultCount } == [1, 1])
        #expect(second.lastSuccess == first.lastSuccess)
        #expect(try await backups.prune(keeping: 1) == [made[0].name])
        await expectStatus(.dataLoss) { try await verify(made[1]) }
        let third = try await backups.verifications()
        #expect(third.latest.map(\.backup) == [made[1].name] && third.lastSuccess == first.lastSuccess)
        await host.close()
    }

    @Test func `The progress of a backup ends with the number of its files`() async throws {
        let host = try await fixture.open()
        for id in 0..<5 { try await host.defaultStore.set("books/\(id)", ["n": .integer(1)]) }
        let progress = BackupProgress()
        #expect(progress.fileCount == 0)
        let request = BackupRequest(
            startTime: .current(),
            databases: [],
            includesKeys: false,
            version: "1.2.3",
            progress: progress
        )
        let backup = try await #require(host.backups).create(request) { _, _ in }
        #expect(progress.fileCount == backup.fileCount && backup.fileCount > 5)
        await host.close()
    }

    @Test func `A backup that is removed while it is verified is not a damaged one`() async throws {
        let host = try await fixture.open()
        for id in 0..<8 { try await host.defaultStore.set("books/\(id)", ["n": .integer(1)]) }
        let backup = try await fixture.makeBackup(of: host)
        let backups = try #require(host.backups)
        let path = fixture.store.folder["backups/\(backup.name)"]
        await expectStatus(.notFound) {
            try await backups.verify(backup.name) {
                try? FileManager.default.removeItem(atPath: path)
            } onFault: { _ in
            }
        }
        #expect(try await backups.verifications() == BackupVerifications())
        await host.close()
    }

    @Test(
        arguments: [
            (#"{"backup":"b","time":"2026-11-26T18:05:00.000000Z"}"#, 1), ("{", 0), ("", 0), (#"{"backup":1,"time":"x"}"#, 0),
            (#"{"verifications":[1,{"backup":"c","time":"2026-11-26T18:05:00.000000Z","faults":-1}]}"#, 1),
        ]
    )
    func `The record of an earlier version is read, and a damaged one is none`(text: String, count: Int) async throws {
        let folder = try await BackupFolder.open(fixture.store.folder["backups"], creating: true)
        try fixture.store.folder.write(text, to: "backups/verified.json")
        let record = try await folder.verifications()
        #expect(record.latest.count == count)
        #expect((record.lastSuccess == nil) == (record.latest.first?.backup != "b"))
        // It is replaced by the next one.
        let host = try await fixture.open()
        try await fixture.makeBackup(of: host, in: folder)
        let backup = try #require(try await folder.list().last)
        try await folder.record(BackupVerification(backup: backup.name, time: .current(), faultCount: 0))
        #expect(try await folder.verifications().latest.count == 1)
        await host.close()
    }

    @Test func `A file that was altered in the previous backup is not linked to`() async throws {
        let host = try await fixture.open()
        for id in ["a", "b"] { try await host.defaultStore.set("books/\(id)", ["n": .integer(1)]) }
        let first = try await fixture.makeBackup(of: host)
        let path = "backups/\(first.name)/documents/books/a.json"
        let time = try FileManager.default.attributesOfItem(atPath: fixture.store.folder[path])[.modificationDate]
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: fixture.store.folder[path])
        let handle = try FileHandle(forWritingTo: URL(filePath: fixture.store.folder[path]))
        try handle.write(contentsOf: Data("[".utf8))
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: try #require(time)], ofItemAtPath: fixture.store.folder[path])
        let second = try await fixture.makeBackup(of: host)
        await host.close()
        #expect(try await fixture.faults(of: first.name) == ["documents/books/a.json"])
        #expect(try await fixture.faults(of: second.name) == [])
        #expect(
            try fixture.inode(of: "backups/\(first.name)/documents/books/b.json")
                == fixture.inode(of: "backups/\(second.name)/documents/books/b.json")
        )
        #expect(try await fixture.documents(in: "backups/\(second.name)").count == 2)
    }

    @Test func `A backup that was made while the clock was wrong is pruned first`() async throws {
        let host = try await fixture.open()
        let wrong = try await fixture.makeBackup(of: host).name
        let manifest = fixture.store.folder["backups/\(wrong)/backup.json"]
        // In the format of that time, which has no digest.
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
            .replacing(/"startTime":"\d{4}/, with: "\"startTime\":\"2999")
            .replacing(#""format":2"#, with: #""format":1"#).replacing(/,"digest":"[0-9a-f]+"/, with: "")
        try text.write(toFile: manifest, atomically: true, encoding: .utf8)
        let right = try await fixture.makeBackup(of: host).name
        let folder = try await BackupFolder.open(fixture.store.folder["backups"])
        #expect(try await folder.list().map(\.name) == [wrong, right])
        #expect(try await folder.prune(keeping: 1) == [wrong])
        await host.close()
    }

    @Test func `One server uses a folder for backups, and finds it again when it was replaced`() async throws {
        let path = fixture.store.folder["backups"]
        let folder = try await BackupFolder.open(path, creating: true, claiming: true)
        await expectStatus(.failedPrecondition) { try await BackupFolder.open(path, claiming: true) }
        let host = try await fixture.open()
        try await fixture.makeBackup(of: host, in: folder)
        try fixture.store.folder.remove("backups")
        await expectStatus(.notFound) { try await folder.list() }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let backup = try await fixture.makeBackup(of: host, in: folder)
        #expect(try await folder.list() == [backup])
        await expectStatus(.failedPrecondition) { try await BackupFolder.open(path, claiming: true) }
        await host.close()
    }

    @Test func `All databases are in a backup`() async throws {
        let host = try await fixture.open()
        let id = try DatabaseID("shop/tests", inProject: "hearth")
        let other = try await host.open(DatabaseIdentity(id))
        try await other.set("books/other", ["n": .integer(1)])
        let backup = try await fixture.makeBackup(of: host, [id: other])
        await other.close()
        await host.close()
        #expect(backup.databases.map(\.id) == [nil, id])
        #expect(try await fixture.documents(in: "backups/\(backup.name)/databases/shop/tests").count == 1)
        let all = try await BackupFolder.open(fixture.store.folder["backups"]).list()
        #expect(all == [backup])
    }

    @Test func `Only the newest backups remain after pruning`() async throws {
        let host = try await fixture.open()
        var names: [String] = []
        for _ in 0..<4 { names.append(try await fixture.makeBackup(of: host).name) }
        let folder = try await BackupFolder.open(fixture.store.folder["backups"])
        #expect(try await folder.prune(keeping: 2) == Array(names.prefix(2)))
        #expect(try await folder.list().map(\.name) == Array(names.suffix(2)))
        #expect(try await folder.prune(keeping: 0) == [names[2]])
        for name in try await folder.list().map(\.name) { #expect(try await fixture.faults(of: name) == []) }
        await host.close()
    }

    @Test func `Pruning leaves the newest backup that is not known to be damaged`() async throws {
        let host = try await fixture.open()
        let backups = try #require(host.backups)
        var names: [String] = []
        for number in 0..<4 {
            try await host.defaultStore.set("books/b\(number)", ["n": .integer(1)])
            names.append(try await fixture.makeBackup(of: host).name)
        }
        try await backups.verify(names[0], onFile: {}, onFault: { _ in })
        for name in names.suffix(2) {
            try fixture.store.folder.remove("backups/\(name)/documents/books/b0.json")
            try await backups.verify(name, onFile: {}, onFault: { _ in })
        }
        let folder = try await BackupFolder.open(fixture.store.folder["backups"])
        #expect(try await folder.prune(keeping: 1) == [names[0], names[2]])
        #expect(try await folder.list().map(\.name) == [names[1], names[3]])
        await host.close()
    }

    @Test func `Only a lack of space on the disk for backups is one that fewer backups mend`() throws {
        let failures = { (body: () throws(StatusError) -> Void) in #expect(throws: StatusError.self) { try body() } }
        let write = { (code: Int32) throws(FileSystemError) in throw FileSystemError("write", code: code) }
        for (code, isLack) in [(ENOSPC, true), (EDQUOT, true), (EIO, false)] {
            let error = failures { () throws(StatusError) in
                try reportingInBackups("write", "a") { () throws(FileSystemError) in try write(code) }
            }
            #expect(error?.isLackOfBackupSpace == isLack && error?.code == (isLack ? .resourceExhausted : .unavailable))
        }
        let data = failures { () throws(StatusError) in
            try reporting("write", "a") { () throws(FileSystemError) in try write(ENOSPC) }
        }
        #expect(data?.code == .resourceExhausted && data?.isLackOfBackupSpace == false)
        #expect(!StatusError(.resourceExhausted, "Too many open databases.").isLackOfBackupSpace)
    }

    @Test func `What may be shared by backups is read-only, also what earlier versions made`() async throws {
        let host = try await fixture.open()
        for id in ["a", "b"] { try await host.defaultStore.set("books/\(id)", ["n": .integer(1)]) }
        let earlier = try await fixture.makeBackup(of: host)
        // As earlier versions made them.
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: fixture.store.folder["backups/\(earlier.name)/documents/books/a.json"]
        )
        let backup = try await fixture.makeBackup(of: host)
        await host.close()
        let root = "backups/\(backup.name)"
        for name in ["documents/books/a.json", "SHA256SUMS", "backup.json", "hearth.json"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: fixture.store.folder["\(root)/\(name)"])
            let mode = try #require(attributes[.posixPermissions] as? Int)
            #expect(mode & 0o222 == 0 && mode & 0o400 != 0, "\(name): \(String(mode, radix: 8))")
        }
        // The live files stay as they were.
        let live = try FileManager.default.attributesOfItem(atPath: fixture.store.folder["data/documents/books/a.json"])
        #expect((live[.posixPermissions] as? Int ?? 0) & 0o200 != 0)
    }

    @Test(.enabled(if: geteuid() != 0, "root writes read-only files"))
    func `A copy of a backup can be served`() async throws {
        let host = try await fixture.open()
        for id in ["a", "b"] { try await host.defaultStore.set("books/\(id)", ["n": .integer(1)]) }
        let backup = try await fixture.makeBackup(of: host)
        await host.close()
        try fixture.store.folder.copy("backups/\(backup.name)", to: "served")
        try await fixture.store.withStore(at: "served") { store in
            try await store.set("books/a", ["n": .integer(2)])
            try await store.delete("books/b")
        }
        #expect(try await fixture.documents(in: "served").count == 1)
    }
}

// MARK: - Manifest

extension BackupTests {
    @Test func `Each altered byte of a manifest is found`() async throws {
        let host = try await fixture.open()
        try await host.defaultStore.set("books/a", ["n": .integer(1)])
        let backup = try await fixture.makeBackup(of: host)
        await host.close()
        let bytes = Array(try Data(contentsOf: URL(filePath: fixture.store.folder["backups/\(backup.name)/backup.json"])))
        #expect(try BackupManifest(bytes, name: backup.name).backup == backup)
        for index in bytes.indices {
            for mask in [0x01, 0x10, 0x20, 0x80] as [UInt8] {
                var altered = bytes
                altered[index] ^= mask
                #expect(throws: StatusError.self, "\(index)") { try BackupManifest(altered, name: backup.name) }
            }
        }
        for count in 0..<bytes.count {
            #expect(throws: StatusError.self) { try BackupManifest(Array(bytes.prefix(count)), name: backup.name) }
        }
    }

    @Test func `A backup with a damaged manifest is not listed, and named by what verifies it`() async throws {
        let host = try await fixture.open()
        try await host.defaultStore.set("books/a", ["n": .integer(1)])
        let (first, second) = (try await fixture.makeBackup(of: host), try await fixture.makeBackup(of: host))
        let name = "backups/\(first.name)/backup.json"
        let text = try fixture.store.folder.text(of: name)
        try fixture.store.folder.remove(name)
        try fixture.store.folder.write(text.replacing(#""sequence":1"#, with: #""sequence":0"#), to: name)
        let folder = try await BackupFolder.open(fixture.store.folder["backups"])
        #expect(try await folder.list() == [second])
        #expect(try await folder.unusable().map(\.name) == [first.name])
        let error = await expectStatus(.dataLoss) {
            try await #require(host.backups).verify(first.name, onFile: {}, onFault: { _ in })
        }
        #expect(error?.message.contains("differs from its SHA-256 digest") == true)
        await expectStatus(.dataLoss) { try await fixture.restore(first) }
        await host.close()
    }

    @Test func `A manifest of format 1, which has no digest, is read`() async throws {
        let text = #"""
            {"format":1,"version":"0.1.0","startTime":"2026-11-26T18:05:00.000000Z","endTime":"2026-11-26T18:05:04.200000Z","databases":[{"epoch":"000102030405060708090a0b0c0d0e0f","sequence":0,"commitTime":null}],"files":1,"bytes":2,"keys":false,"list":"00"}
            """#
        #expect(try BackupManifest(Array(text.utf8), name: "old").backup.version == "0.1.0")
    }
}

// MARK: - Failures

extension BackupTests {
    @Test func `Nothing remains of a backup that is cancelled or fails`() async throws {
        let host = try await fixture.open()
        for number in 0..<500 { try await host.defaultStore.set("books/b\(number)", ["n": .integer(Int64(number))]) }
        let good = try await fixture.makeBackup(of: host)
        let cancelled = Task { try await fixture.makeBackup(of: host) }
        cancelled.cancel()
        await expectStatus(.cancelled) { try await cancelled.value }
        let id = try DatabaseID("shop/tests", inProject: "hearth")
        await expectStatus(.dataLoss) {
            try await fixture.makeBackup(of: host, failing: id, with: StatusError(.dataLoss, "damaged"))
        }
        #expect(try fixture.store.folder.names(in: "backups").sorted() == [good.name, "hearth-backups.lock"].sorted())
        // Another one can be made.
        #expect(try await fixture.makeBackup(of: host).name != good.name)
        await host.close()
    }

    @Test func `One backup is made at a time`() async throws {
        let host = try await fixture.open()
        let id = try DatabaseID("shop/tests", inProject: "hearth")
        let fixture = fixture
        try await fixture.makeBackup(of: host, [:], including: [id]) { _ throws(StatusError) in
            await expectStatus(.failedPrecondition) { try await fixture.makeBackup(of: host) }
        }
        await host.close()
    }

    @Test(.enabled(if: TmpfsVolume.isAvailable)) func `A full disk for backups ends the backup, and commits go on`() async throws
    {
        let host = try await fixture.open()
        for number in 0..<300 {
            try await host.defaultStore.set("books/b\(number)", ["text": .string(String(repeating: "x", count: 8_000))])
        }
        try await TmpfsVolume.with(size: "2m") { volume in
            let folder = try await BackupFolder.open(volume.folder.path)
            await expectStatus(.resourceExhausted) { try await fixture.makeBackup(of: host, in: folder) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: volume.folder.path) == ["hearth-backups.lock"])
        }
        try await host.defaultStore.set("books/later", [:])
        await host.close()
    }

    @Test func `A folder for backups is not in the data folder`() async throws {
        let host = try await fixture.open()
        let data = fixture.store.folder["data"]
        await expectStatus(.failedPrecondition) { try await BackupFolder.open(data + "/backups", outside: data, creating: true) }
        await expectStatus(.failedPrecondition) { try await BackupFolder.open(data, outside: data) }
        await expectStatus(.notFound) {
            try await BackupFolder.open(fixture.store.folder["missing/backups"], outside: data, creating: true)
        }
        #expect(try !fixture.store.folder.names(in: "data").contains("backups"))
        await host.close()
    }
}

// MARK: - Load

extension BackupTests {
    /// Sets and deletes documents of some collections until the task is cancelled.
    private static func write(as writer: Int, to store: any DocumentStore) async throws {
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed &+ UInt64(writer))
        var number: Int64 = 0
        while !Task.isCancelled {
            number += 1
            let writes = try (0..<Int.random(in: 1...3, using: &generator)).map { index in
                let collection = Int.random(in: 0..<5, using: &generator)
                let document = Int.random(in: 0..<40, using: &generator) * 4 + index
                let path = try DocumentPath("c\(collection)/w\(writer)d\(document)" + (collection == 0 ? "/below/it" : ""))
                let isDeletion = Int.random(in: 0..<4, using: &generator) == 0
                return Write(path: path, operation: isDeletion ? .delete : .replace(["n": .integer(number)]))
            }
            _ = try await store.commit(writes)
        }
    }
}
