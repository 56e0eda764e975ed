import DocumentModel
import DocumentStore
import Foundation
import Logging
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import Journal

@Suite("Recovery of a store that was not closed", .tags(.crash))
struct RecoveryTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test
    func `Commits whose files were not renamed into place are restored after a crash`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/old", ["n": .integer(0)])
            try await store.set("c/changed", ["n": .integer(1)])
            try fixture.folder.copy("data", to: "crashed")
            try await store.set("c/changed", ["n": .integer(2)])
            try await store.set("c/new/sub/x", ["n": .integer(3)])
            try await store.delete("c/old")
            try replaceJournal(of: "crashed")
            try fixture.folder.write("half", to: "crashed/documents/c/.hearth-1a.tmp")
        }
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(store.position.lastSequence == SequenceNumber(5))
            #expect(try await store.fields("c/changed") == ["n": .integer(2)])
            #expect(try await store.fields("c/new/sub/x") == ["n": .integer(3)])
            #expect(try await store.document(at: DocumentPath("c/old")) == nil)
            #expect(!fixture.folder.exists("crashed/documents/c/.hearth-1a.tmp"))
            #expect(try await store.firstCommits(5, after: .zero).map(\.sequence.rawValue) == [1, 2, 3, 4, 5])
        }
        #expect(try fixture.folder.contents(of: "crashed/documents") == (try fixture.folder.contents(of: "data/documents")))
    }

    @Test
    func `Recovery is idempotent`() async throws {
        try await fixture.withStore { store throws in
            for index in 0..<20 { try await store.set("c/d\(index % 7)", ["n": .integer(Int64(index))]) }
            try await store.delete("c/d3")
            try fixture.folder.copy("data", to: "crashed")
        }
        let expected = try fixture.folder.contents(of: "data/documents")
        for _ in 0..<2 {
            let store = try await fixture.open(at: "crashed")
            // Not closed.
            store.data.unlock()
            #expect(try fixture.folder.contents(of: "crashed/documents") == expected)
        }
    }

    @Test(arguments: Tear.allCases)
    func `A batch torn at any byte is truncated, and earlier acknowledged commits are kept`(tear: Tear) async throws {
        var snapshot: [String: [UInt8]] = [:]
        try await fixture.withStore { store throws in
            try await store.set("c/a", ["n": .integer(1)])
            try await store.set("c/b", ["n": .integer(2)])
            try fixture.folder.copy("data", to: "crashed")
            try await store.set("c/c", ["n": .integer(3)])
            snapshot = try fixture.folder.contents(of: "data/journal")
        }
        let name = JournalSegment.name(first: SequenceNumber(1))
        let journal = try #require(snapshot[name])
        let (start, end) = try lastRecord(of: journal)
        var reader = ByteReader(journal[start...])
        let length = reader.integer(UInt32.self)
        let bodyEnd = start + 8 + Int(try #require(length))
        for cut in start...end {
            // In a folder of its own, since the earlier stores go on to apply their commits.
            let crashed = "crashed-\(cut)"
            try fixture.folder.copy("crashed", to: crashed)
            try fixture.folder.write(tear.tear(journal, from: cut, end: end), to: "\(crashed)/journal/\(name)")
            try setUnclean(crashed)
            let store = try await fixture.open(at: crashed)
            let isWhole = cut >= bodyEnd
            #expect(store.position.lastSequence == SequenceNumber(isWhole ? 3 : 2), "cut at \(cut) of \(start)…\(end)")
            #expect(try await store.fields("c/b") == ["n": .integer(2)])
            #expect((try await store.fields("c/c") != nil) == isWhole)
            if isWhole {
                try await store.delete("c/c")
                // Commits after a crash are in a new segment.
                try fixture.folder.remove("\(crashed)/journal/\(JournalSegment.name(first: SequenceNumber(4)))")
            }
            store.data.unlock()
        }
    }

    /// The possible states of the bytes after the last one that reached the disk.
    enum Tear: CaseIterable {
        case zeroed
        case missing
        case garbled

        func tear(_ journal: [UInt8], from cut: Int, end: Int) -> [UInt8] {
            switch self {
            case .zeroed: journal[..<cut] + [UInt8](repeating: 0, count: journal.count - cut)
            case .missing: Array(journal[..<cut])
            case .garbled: journal[..<cut] + journal[cut..<end].map { ~$0 } + journal[end...]
            }
        }
    }

    @Test
    func `After a torn batch was truncated, further commits survive the next crash`() async throws {
        let name = JournalSegment.name(first: SequenceNumber(1))
        try await fixture.withStore { store in
            try await store.set("c/a", ["n": .integer(1)])
            try fixture.folder.copy("data", to: "crashed")
        }
        var journal = try fixture.folder.bytes(of: "crashed/journal/\(name)")
        let (_, end) = try lastRecord(of: journal)
        for index in end..<(end + 500) { journal[index] = 0xab }
        try fixture.folder.write(journal, to: "crashed/journal/\(name)")
        let store = try await fixture.open(at: "crashed")
        #expect(try await store.set("c/b", ["n": .integer(2)]).sequence == SequenceNumber(2))
        try fixture.folder.copy("crashed", to: "again")
        try await fixture.withStore(at: "again") { store throws in
            #expect(store.position.lastSequence == SequenceNumber(2))
            #expect(try await store.fields("c/b") == ["n": .integer(2)])
        }
    }

    @Test
    func `A damaged record before intact ones is not skipped: the store does not open, and nothing is changed`() async throws {
        let name = JournalSegment.name(first: SequenceNumber(1))
        try await fixture.withStore { store throws in
            for index in 0..<5 { try await store.set("c/d\(index)", ["n": .integer(Int64(index))]) }
            try fixture.folder.copy("data", to: "crashed")
        }
        let journal = try fixture.folder.bytes(of: "crashed/journal/\(name)")
        for offset in [JournalSegment.headerBytes + 10, JournalSegment.headerBytes, 20] {
            var damaged = journal
            damaged[offset] ^= 1
            try fixture.folder.write(damaged, to: "crashed/journal/\(name)")
            let before = try fixture.folder.contents(of: "crashed")
            let error = await expectStatus(.dataLoss) { try await fixture.open(at: "crashed") }
            #expect(error?.message.contains("journal/\(name)") == true)
            #expect(
                try fixture.folder.contents(of: "crashed").filter { $0.key != "hearth.lock" }
                    == before.filter { $0.key != "hearth.lock" }
            )
        }
    }

    @Test
    func `A damaged record before intact ones of the same batch is truncated, because the batch was not acknowledged`()
        async throws
    {
        try await fixture.withStore { store in
            try await store.set("c/a", [:])
            try fixture.folder.copy("data", to: "crashed")
            let name = JournalSegment.name(first: SequenceNumber(1))
            var journal = try fixture.folder.bytes(of: "crashed/journal/\(name)")
            let (_, end) = try lastRecord(of: journal)
            var batch: [UInt8] = []
            for (sequence, id) in [(2, "b"), (3, "c")] as [(UInt64, String)] {
                let time = Timestamp.current()
                let document = Document(path: try DocumentPath("c/\(id)"), fields: [:], createTime: time, updateTime: time)
                let change = CommittedChange(
                    path: document.path,
                    before: nil,
                    after: EncodedDocument(document),
                    existedBefore: false
                )
                let commit = Commit(sequence: SequenceNumber(sequence), time: time, changes: [change])
                JournalRecord.append(commit, batch: SequenceNumber(2), to: &batch) { _ in true }
            }
            batch[12] ^= 1
            journal.replaceSubrange(end..<(end + batch.count), with: batch)
            try fixture.folder.write(journal, to: "crashed/journal/\(name)")
        }
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(store.position.lastSequence == SequenceNumber(1))
            #expect(try await store.list("c").ids == ["a"])
        }
    }

    @Test
    func `A missing segment before other segments is not skipped`() async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 4 << 10
        try await fixture.withStore { store throws in
            for index in 0..<50 { try await store.set("c/d\(index)", ["text": .string(String(repeating: "x", count: 200))]) }
            try fixture.folder.copy("data", to: "crashed")
        }
        let segments = try fixture.folder.segments(in: "crashed")
        #expect(segments.count > 3)
        try fixture.folder.remove("crashed/journal/\(segments[1])")
        await expectStatus(.dataLoss) { try await fixture.open(at: "crashed") }
    }

    @Test
    func `A file torn by a power failure is restored from the journal`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/empty", ["n": .integer(1)])
            try await store.set("c/half", ["n": .integer(2)])
            try fixture.folder.copy("data", to: "crashed")
        }
        try fixture.folder.write("", to: "crashed/documents/c/empty.json")
        try fixture.folder.write("{\n  \"n\":", to: "crashed/documents/c/half.json")
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(try await store.fields("c/empty") == ["n": .integer(1)])
            #expect(try await store.fields("c/half") == ["n": .integer(2)])
        }
    }

    @Test
    func `Recovery keeps a file edited after its last commit`() async throws {
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            try fixture.folder.copy("data", to: "crashed")
        }
        let text = try fixture.folder.text(of: "crashed/documents/c/d.json")
        try fixture.folder.write(text.replacingOccurrences(of: "\"n\": 1", with: "\"n\": 7"), to: "crashed/documents/c/d.json")
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(try await store.fields("c/d") == ["n": .integer(7)])
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Recovery keeps file changes made after an idle checkpoint`() async throws {
        var fixture = fixture
        fixture.configuration.checkpointIdleTime = .milliseconds(20)
        try await fixture.withStore { store throws in
            for id in ["removed", "restored", "damaged", "undeleted", "untouched"] {
                for n in 1...2 { try await store.set("c/\(id)", ["n": .integer(Int64(n))]) }
            }
            let old = try fixture.folder.text(of: "data/documents/c/undeleted.json")
            let last = try await store.delete("c/undeleted").sequence
            while store.data.manifest.sequence != last { try await Task.sleep(for: .milliseconds(5)) }
            #expect(!store.data.manifest.isClean)
            try fixture.folder.remove("data/documents/c/removed.json")
            try fixture.folder.write("{", to: "data/documents/c/damaged.json")
            for id in ["restored", "undeleted"] {
                let text = old.replacing(/Time": "\d+/) { _ in "Time\": \"2001" }
                try fixture.folder.write(text, to: "data/documents/c/\(id).json")
            }
            try fixture.folder.copy("data", to: "crashed")
        }
        try await fixture.withStore(at: "crashed") { store throws in
            let page = try await store.list("c")
            #expect(page.ids == ["restored", "undeleted", "untouched"])
            #expect(page.damaged.map(\.path) == ["c/damaged"])
            #expect(try await store.document(at: DocumentPath("c/restored"))?.updateTime.rfc3339.hasPrefix("2001") == true)
            #expect(store.position.lastSequence == SequenceNumber(11))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `A failed checkpoint is retried when the store is idle`() async throws {
        var fixture = fixture
        fixture.configuration.checkpointIdleTime = .milliseconds(20)
        let logs = WarningLog()
        try await fixture.withStore(logger: logs.logger) { store throws in
            try await store.set("c/d", [:])
            let blockingPath = "data/\(TemporaryName.fixed("description"))"
            try fixture.folder.write("", to: "\(blockingPath)/file")
            let last = try await store.set("c/d", ["n": .integer(1)]).sequence
            while logs.warnings.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
            #expect(store.data.manifest.sequence != last)
            try fixture.folder.remove(blockingPath)
            while store.data.manifest.sequence != last { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `Checkpoints that fail are logged once, and once when they succeed again`() async throws {
        var fixture = fixture
        fixture.configuration.checkpointDocuments = 1
        let logs = WarningLog(from: .info)
        try await fixture.withStore(logger: logs.logger) { store throws in
            try await store.set("c/d", [:])
            let blockingPath = "data/\(TemporaryName.fixed("description"))"
            try fixture.folder.write("", to: "\(blockingPath)/file")
            // Each commit starts a checkpoint, after the previous one has ended.
            for number in 0..<5 { try await store.set("c/d", ["n": .integer(Int64(number))]) }
            #expect(logs.warnings.count == 1)
            try fixture.folder.remove(blockingPath)
            try await store.set("c/d", ["n": .integer(5)])
            await store.waitForCheckpoint()
            try await store.set("c/d", ["n": .integer(6)])
            await store.waitForCheckpoint()
            // The checkpoint in progress is recorded before it ends.
            while !logs.entries.contains(where: { $0.message == "Checkpoints succeed again" }) { await Task.yield() }
            #expect(logs.entries.count { $0.message == "Checkpoints succeed again" } == 1 && logs.warnings.count == 1)
        }
    }

    @Test
    func `A recovery restores a number of documents that the configuration bounds, and logs its progress`() async throws {
        var fixture = fixture
        fixture.configuration.segmentBytes = 16 << 20
        fixture.configuration.checkpointDocuments = 1_000
        fixture.configuration.recoveryProgressInterval = .milliseconds(1)
        try await fixture.withStore { store throws in
            for start in stride(from: 0, to: 6_000, by: 100) {
                let paths = try (start..<start + 100).map { try DocumentPath("c\($0 % 3)/d\($0)") }
                _ = try await store.commit(paths.map { try .set($0, ["n": .integer(1)]) })
            }
            let shortened = String(repeating: "x", count: 300)
            _ = try await store.commit(
                (0..<1_000).map { try .set(DocumentPath("\(shortened)\($0 % 10)/d\($0)"), ["n": .integer(2)]) }
            )
            // The last checkpoint may or may not have been recorded in the copy.
            try fixture.folder.copy("data", to: "crashed")
            let paths = try (0..<1_000).map { try DocumentPath("\(shortened)\($0 % 10)/d\($0)") }
            _ = try await store.commit(paths.map { Write(path: $0, operation: .delete) })
            _ = try await store.commit(paths.map { try .set($0, ["n": .integer(3)]) })
            let position = store.position.lastSequence
            #expect(position == SequenceNumber(63))
            try fixture.folder.remove("crashed/journal")
            try fixture.folder.copy("data/journal", to: "crashed/journal")
        }
        // As after a power failure: some files were never written.
        for name in try fixture.folder.names(in: "crashed/documents") where name.utf8.count > 100 {
            try fixture.folder.remove("crashed/documents/\(name)")
        }
        let logs = WarningLog(from: .info)
        try await fixture.withStore(at: "crashed", logger: logs.logger) { store throws in
            #expect(try await store.fields("\(String(repeating: "x", count: 300))3/d3") == ["n": .integer(3)])
            #expect(store.position.lastSequence == SequenceNumber(63))
        }
        #expect(try fixture.folder.contents(of: "crashed/documents") == (try fixture.folder.contents(of: "data/documents")))
        let opened = try #require(logs.entries.first { $0.message.hasPrefix("Opened") })
        let count = try #require(opened.metadata["recovery.documents"].flatMap { Int("\($0)") })
        #expect((1_000...3_000).contains(count))
        let messages = logs.entries.map(\.message)
        #expect(messages.contains { $0.hasPrefix("The store was not closed; restoring") })
        #expect(messages.contains("Restoring documents"))
        #expect(messages.contains("Syncing the restored documents"))
    }

    @Test
    func `A store that was not closed and lost its journal opens with its files and a new epoch`() async throws {
        var epoch = ""
        try await fixture.withStore { store in
            try await store.set("c/d", ["n": .integer(1)])
            epoch = store.position.epoch
            try fixture.folder.copy("data", to: "crashed")
        }
        try fixture.folder.remove("crashed/journal")
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(store.position.epoch != epoch)
            #expect(try await store.fields("c/d") == ["n": .integer(1)])
        }
    }

    @Test
    func `A segment of another database is rejected`() async throws {
        try await fixture.withStore { store in _ = try await store.set("c/d", [:]) }
        try await fixture.withStore(at: "other") { store throws in
            try await store.set("c/d", [:])
            try fixture.folder.copy("other", to: "crashed")
        }
        try fixture.folder.remove("crashed/journal")
        try fixture.folder.copy("data/journal", to: "crashed/journal")
        await expectStatus(.failedPrecondition) { try await fixture.open(at: "crashed") }
    }

    private func replaceJournal(of copy: String) throws {
        try fixture.folder.remove("\(copy)/journal")
        try fixture.folder.copy("data/journal", to: "\(copy)/journal")
    }

    private func setUnclean(_ folder: String) throws {
        let text = try fixture.folder.text(of: "\(folder)/hearth.json")
        let description = text.replacingOccurrences(of: "\"clean\":true", with: "\"clean\":false")
            .replacing(#/"sequence":\d+/#, with: "\"sequence\":0")
        try fixture.folder.write(description, to: "\(folder)/hearth.json")
    }

    private func lastRecord(of journal: [UInt8]) throws -> (start: Int, end: Int) {
        var start = JournalSegment.headerBytes
        var end = start
        while case .record(_, let byteCount) = JournalRecord.read(journal[end...]) { (start, end) = (end, end + byteCount) }
        return (start, end)
    }
}
