import DocumentModel
import DocumentStore
import Foundation
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

@Suite("Restore of a backup") struct RestoreTests {
    private let fixture: BackupFixture

    init() throws {
        fixture = try BackupFixture()
    }

    /// Makes a backup of three documents in two databases, and closes them.
    private func makeBackup() async throws -> Backup {
        let host = try await fixture.open()
        try await host.defaultStore.set("books/a", ["n": .integer(1)])
        try await host.defaultStore.set("books/a/reviews/r", ["stars": .integer(5)])
        try await host.defaultStore.set("books/a", ["n": .integer(2)])
        let id = try DatabaseID("shop/tests", inProject: "hearth")
        let other = try await host.open(DatabaseIdentity(id))
        try await other.set(String("c/") + String(repeating: "long", count: 300), ["n": .integer(3)])
        let backup = try await fixture.makeBackup(of: host, [id: other])
        await other.close()
        await host.close()
        return backup
    }

    private func restore(_ backup: Backup, to relative: String = "restored", previous: String? = nil) async throws -> Int {
        try await fixture.restore(backup, to: relative, previous: previous).documentCount
    }

    @Test func `Restores beside each other do not mix`() async throws {
        let host = try await fixture.open()
        for number in 0..<300 { try await host.defaultStore.set("books/b\(number)", ["n": .integer(Int64(number))]) }
        let backup = try await fixture.makeBackup(of: host)
        await host.close()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let folder = "restored\(number)"
                    do {
                        let count = try await restore(backup, to: folder)
                        let (report, findings) = try await fixture.store.check(folder)
                        #expect(count == 300 && report.documents == 300 && findings.isEmpty)
                    } catch {
                        #expect((error as? StatusError)?.code == .failedPrecondition, "\(error)")
                    }
                }
            }
        }
        #expect(try await restore(backup) == 300)
    }

    @Test func `The documents are those of the backup, with new update times in a new history`() async throws {
        let backup = try await makeBackup()
        let before = Timestamp.current()
        #expect(try await restore(backup) == 3)
        for (folder, count) in [("", 2), ("/databases/shop/tests", 1)] {
            let original = try await fixture.documents(in: "backups/\(backup.name)\(folder)")
            let restored = try await fixture.documents(in: "restored\(folder)")
            #expect(restored.count == count)
            #expect(restored.mapValues(\.fieldsJSON) == original.mapValues(\.fieldsJSON))
            #expect(restored.mapValues(\.createTime) == original.mapValues(\.createTime))
            #expect(restored.values.allSatisfy { $0.updateTime >= before })
            #expect(Set(restored.values.map(\.updateTime)).count == 1)
        }
        let known = try #require(backup.databases.first)
        try await fixture.store.withStore(at: "restored") { store in
            #expect(store.position.epoch != known.epoch.description)
            #expect(store.position.lastSequence == known.lastSequence.next)
            let next = try await store.set("books/later", [:])
            #expect(next.sequence == known.lastSequence.next.next)
        }
        let (_, findings) = try await fixture.store.check("restored")
        #expect(findings.isEmpty, "\(findings)")
        #expect(try await fixture.faults(of: backup.name) == [])
    }

    @Test func `The new history begins after the last commit of the folder that it replaces`() async throws {
        let backup = try await makeBackup()
        let last = try await fixture.store.withStore { store in
            for number in 0..<20 { try await store.set("books/later", ["n": .integer(Int64(number))]) }
            return store.position
        }
        _ = try await restore(backup, previous: "data")
        try await fixture.store.withStore(at: "restored") { store in
            #expect(store.position.lastSequence == last.lastSequence.next)
            let (time, earlier) = (try #require(store.position.lastCommitTime), try #require(last.lastCommitTime))
            #expect(time > earlier)
            let later = try await store.fields("books/later")
            #expect(later == nil)
        }
    }

    @Test func `A crashed folder is replaced, too`() async throws {
        let backup = try await makeBackup()
        let store = try await fixture.store.open()
        for number in 0..<20 { try await store.set("books/later", ["n": .integer(Int64(number))]) }
        let last = store.position.lastSequence
        try fixture.store.folder.copy("data", to: "crashed")
        await store.close()
        _ = try await restore(backup, previous: "crashed")
        try await fixture.store.withStore(at: "restored") { #expect($0.position.lastSequence == last.next) }
    }

    @Test func `Nothing is overwritten`() async throws {
        let backup = try await makeBackup()
        let error = await expectStatus(.failedPrecondition) { try await restore(backup, to: "data") }
        #expect(error?.message.contains("is not empty") == true)
        await expectStatus(.notFound) { try await restore(backup, to: "missing/restored") }
        try FileManager.default.createDirectory(atPath: fixture.store.folder["empty"], withIntermediateDirectories: false)
        #expect(try await restore(backup, to: "empty/") == 3)
    }
}

// MARK: - Formats

extension RestoreTests {
    @Test func `A backup in a newer format is not restored`() async throws {
        let backup = try await makeBackup()
        let manifest = "backups/\(backup.name)/backup.json"
        let text = try fixture.store.folder.text(of: manifest)
        try fixture.store.folder.remove(manifest)
        try fixture.store.folder.write(text.replacingOccurrences(of: "\"format\":2", with: "\"format\":3"), to: manifest)
        let error = await expectStatus(.failedPrecondition) { try await restore(backup) }
        #expect(error?.message.contains("has format version 3, but this version of Hearth reads versions up to 2") == true)
        #expect(try fixture.store.folder.names().sorted() == ["backups", "data"])
    }
}

// MARK: - Damage

extension RestoreTests {
    enum Damage: CaseIterable {
        case altered, truncated, removed, replacedByFolder

        fileprivate func inflict(on path: String) throws {
            let file = URL(filePath: path)
            var bytes = try Data(contentsOf: file)
            try FileManager.default.removeItem(at: file)
            switch self {
            case .altered:
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: file)
            case .truncated: try bytes.prefix(bytes.count / 2).write(to: file)
            case .removed: break
            case .replacedByFolder: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            }
        }
    }

    @Test(
        arguments: Damage.allCases,
        [
            "documents/books/a.json", "hearth.json", "journal/00000000000000000001.journal", "SHA256SUMS", "backup.json",
            "databases/shop/tests/hearth.json",
        ]
    )
    func `Damage is found, and a restore leaves nothing`(damage: Damage, file: String) async throws {
        let backup = try await makeBackup()
        try damage.inflict(on: fixture.store.folder["backups/\(backup.name)/\(file)"])
        do {
            #expect(try await fixture.faults(of: backup.name) == [file])
        } catch let error as StatusError {
            // Without its list or manifest, a backup cannot be read at all. One without a manifest is none.
            #expect(["SHA256SUMS", "backup.json"].contains(file))
            #expect(error.code == .dataLoss || (file == "backup.json" && error.code == .failedPrecondition), "\(error)")
        }
        do {
            _ = try await restore(backup)
            Issue.record("Restored in spite of the damage")
        } catch let error as StatusError {
            #expect([.dataLoss, .failedPrecondition].contains(error.code), "\(error)")
            #expect(!error.message.contains(fixture.store.folder[""]) || error.code == .failedPrecondition)
        }
        let left = try fixture.store.folder.names()
        #expect(left.sorted() == ["backups", "data"], "\(left)")
    }

    @Test(arguments: [
        "../../../escaped", "/escaped", "documents/../../escaped", "./escaped", "documents//escaped",
        // A slash beside these characters is no character of its own, but separates names.
        "documents/../\u{338}x/../../escaped", "documents/\u{600}/../../../escaped", "..\u{2f}\u{338}/escaped",
    ])
    func `No file outside of the backup is read or written`(path: String) {
        let line = BackupFileList.line(path, [UInt8](repeating: 1, count: 32)).dropLast()
        #expect(BackupFileList.entry(line[...]) == nil)
    }

    @Test(arguments: ["documents/books/a.json", "documents/a b/c\\d", "documents/line\nfeed", "documents/caf\u{e9}"])
    func `A line of the list has the format of sha256sum`(path: String) async throws {
        let folder = try TemporaryFolder()
        try folder.write("text", to: "file")
        let digest = try #require(Data(base64Encoded: "mC2axUhQvV2syYbFkFyTlFsuiTl9YyOWJc4i98QJJGg="))
        let line = BackupFileList.line(path, Array(digest))
        let entry = try #require(BackupFileList.entry(line.dropLast()[...]))
        #expect(entry.path == path)
        #expect(entry.digest == Array(digest))
        #expect(line.first == UInt8(ascii: "\\") || !path.contains { $0 == "\\" || $0 == "\n" })
    }
}

// MARK: - Places and damage

extension RestoreTests {
    @Test func `Nothing is restored into a backup or a folder for backups`() async throws {
        let backup = try await makeBackup()
        for place in ["backups/restored", "backups/\(backup.name)/restored", "backups/\(backup.name)/documents/books/restored"] {
            let error = await expectStatus(.failedPrecondition) { try await restore(backup, to: place) }
            #expect(error?.message.contains("folder for backups") == true)
        }
        // The lock of backups says nothing about folders further below.
        try fixture.store.folder.write("", to: "hearth-backups.lock")
        try FileManager.default.createDirectory(atPath: fixture.store.folder["below"], withIntermediateDirectories: false)
        #expect(try await restore(backup, to: "below/restored") == 3)
        try fixture.store.folder.remove("hearth-backups.lock")
        #expect(try fixture.store.folder.names(in: "backups").sorted() == [backup.name, "hearth-backups.lock"].sorted())
        #expect(try await fixture.faults(of: backup.name) == [])
    }

    @Test func `Told to, a restore leaves out what is damaged, and names it`() async throws {
        let backup = try await makeBackup()
        let root = "backups/\(backup.name)"
        let journal = try #require(try fixture.store.folder.names(in: root + "/journal").first)
        for name in ["documents/books/a.json", "journal/\(journal)"] {
            try fixture.store.folder.remove("\(root)/\(name)")
            try fixture.store.folder.write("damaged", to: "\(root)/\(name)")
        }
        await expectStatus(.dataLoss) { try await restore(backup) }
        let report = try await fixture.restore(backup, skippingDamaged: true)
        #expect(report.leftOut.compactMap(\.file?.path) == ["documents/books/a.json", "journal/\(journal)"])
        #expect(report.databases.map(\.documentCount) == [1, 1])
        #expect(try await fixture.documents(in: "restored").keys.map(\.string) == ["books/a/reviews/r"])
        let (_, findings) = try await fixture.store.check("restored")
        #expect(findings.isEmpty, "\(findings)")
    }

    @Test func `A database without its manifest is left out, and without that of the default one nothing is restored`()
        async throws
    {
        let backup = try await makeBackup()
        try fixture.store.folder.remove("backups/\(backup.name)/databases/shop/tests/hearth.json")
        let report = try await fixture.restore(backup, skippingDamaged: true)
        #expect(report.databases.map(\.documentCount) == [2])
        #expect(report.leftOut.compactMap(\.file?.path) == ["databases/shop/tests", "databases/shop/tests/hearth.json"])
        #expect(!fixture.store.folder.exists("restored/databases/shop/tests"))
        try fixture.store.folder.remove("backups/\(backup.name)/hearth.json")
        await expectStatus(.dataLoss) { try await fixture.restore(backup, to: "again", skippingDamaged: true) }
        #expect(!fixture.store.folder.exists("again"))
    }

    @Test func `A damaged list is used as far as it can be`() async throws {
        let backup = try await makeBackup()
        let name = "backups/\(backup.name)/SHA256SUMS"
        let lines = try fixture.store.folder.text(of: name).split(separator: "\n")
        let index = try #require(lines.firstIndex { $0.hasSuffix("  documents/books/a.json") })
        var altered = lines
        altered[index] = "not a line"
        try fixture.store.folder.remove(name)
        try fixture.store.folder.write(altered.joined(separator: "\n") + "\n", to: name)
        await expectStatus(.dataLoss) { try await restore(backup) }
        let report = try await fixture.restore(backup, skippingDamaged: true)
        #expect(report.leftOut.compactMap(\.file?.path) == ["SHA256SUMS", "SHA256SUMS", "documents/books/a.json"])
        #expect(report.databases.map(\.documentCount) == [1, 1])
    }

    @Test func `Each file that a damaged list lacks is named, and a database whose manifest it lacks is left out`() async throws {
        let backup = try await makeBackup()
        let name = "backups/\(backup.name)/SHA256SUMS"
        let lines = try fixture.store.folder.text(of: name).split(separator: "\n")
        let manifest = try #require(lines.first { $0.hasSuffix("tests/hearth.json") })
        let kept = lines.filter { !$0.contains("reviews") && $0 != manifest }
        try fixture.store.folder.remove(name)
        // Cut off within the last line.
        try fixture.store.folder.write((kept + [manifest.dropLast(3)]).joined(separator: "\n"), to: name)
        let report = try await fixture.restore(backup, skippingDamaged: true)
        #expect(
            report.leftOut.compactMap(\.file?.path) == [
                "SHA256SUMS", "databases/shop/tests", "databases/shop/tests/hearth.json", "documents/books/a/reviews/r.json",
            ]
        )
        #expect(report.databases.map(\.documentCount) == [1])
    }
}

// MARK: - Moments

extension RestoreTests {
    /// A database with a history of commits, in backups and in its own journal.
    private func makeHistory() async throws -> (backups: [Backup], commits: [Commit]) {
        var store = fixture.store
        store.configuration.segmentBytes = 8 << 10
        // About 250 commits are retained, so that no journal has all of them, and those of the backups have no gap between them.
        store.configuration.checkpointBytes = 8 << 10
        store.configuration.retentionBytes = 48 << 10
        let host = try await fixture.open(store)
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed)
        var backups: [Backup] = []
        for number in 0..<1_000 {
            let path = try DocumentPath(
                "c\(Int.random(in: 0..<3, using: &generator))/d\(Int.random(in: 0..<20, using: &generator))"
            )
            let isDeletion = Int.random(in: 0..<3, using: &generator) == 0
            _ = try await host.defaultStore.commit([
                Write(path: path, operation: isDeletion ? .delete : .replace(["n": .integer(Int64(number))]))
            ])
            if number % 100 == 50 { backups.append(try await fixture.makeBackup(of: host)) }
        }
        let last = host.defaultStore.position
        // From memory, since the journal has fewer.
        let commits = try await host.defaultStore.firstCommits(Int(last.lastSequence.rawValue), after: .zero)
        await host.close()
        return (backups, commits)
    }

    @Test(.timeLimit(.minutes(10))) func `A restore to any moment has the commits up to it`() async throws {
        let (backups, commits) = try await makeHistory()
        let first = try #require(backups.first)
        let start = try #require(first.databases.first).lastSequence.rawValue
        var generator = SeededGenerator(seed: SeededGenerator.currentSeed)
        for round in 0..<Self.momentCount {
            let commit = try #require(commits.filter { $0.sequence.rawValue >= start }.randomElement(using: &generator))
            let target: RestoreTarget = round.isMultiple(of: 2) ? .time(commit.time) : .commit(commit.sequence, of: nil)
            let report = try await fixture.restore(first, asOf: target, to: "r\(round)", previous: "data")
            let database = try #require(report.databases.first)
            #expect(database.lastSequence == commit.sequence)
            #expect(database.isLastKnownCommit == (target == .time(commits.last?.time ?? .minimum)))
            var expected: [DocumentPath: EncodedDocument] = [:]
            for commit in commits.prefix(Int(commit.sequence.rawValue)) {
                for change in commit.changes { expected[change.path] = change.after }
            }
            let found = try await fixture.documents(in: "r\(round)")
            #expect(found.mapValues(\.fieldsJSON) == expected.mapValues(\.fieldsJSON), "\(target)")
            #expect(found.mapValues(\.createTime) == expected.mapValues(\.createTime), "\(target)")
            let (_, findings) = try await fixture.store.check("r\(round)")
            #expect(findings.isEmpty, "\(findings)")
            try await fixture.store.withStore(at: "r\(round)") { store in
                #expect(store.position.lastSequence.rawValue == UInt64(commits.count + 1))
            }
        }
    }

    /// The number of moments. `HEARTH_RESTORE_COUNT` sets it.
    private static let momentCount =
        ProcessInfo.processInfo.environment["HEARTH_RESTORE_COUNT"].flatMap { Int($0) } ?? 8

    @Test func `A moment that cannot be restored is refused`() async throws {
        let (backups, commits) = try await makeHistory()
        let last = try #require(backups.last)
        await expectStatus(.outOfRange) { try await fixture.restore(last, asOf: .time(commits[0].time)) }
        await expectStatus(.outOfRange) { try await fixture.restore(last, asOf: .commit(SequenceNumber(3), of: nil)) }
        // Without the data folder, its last commits are lost.
        let error = await expectStatus(.outOfRange) {
            try await fixture.restore(last, asOf: .commit(SequenceNumber(UInt64(commits.count)), of: nil))
        }
        #expect(
            error?.message.contains("Commit \(commits.count) of the default database is not known") == true,
            "\(error as Any)"
        )
        await expectStatus(.notFound) {
            try await fixture.restore(last, asOf: .commit(.zero, of: DatabaseID("shop/other", inProject: "hearth")))
        }
        #expect(!fixture.store.folder.exists("restored"))
        let report = try await fixture.restore(last, asOf: .time(.current()))
        #expect(report.databases.first?.lastSequence == last.databases.first?.lastSequence)
        #expect(report.databases.first?.isLastKnownCommit == true)
    }
}
