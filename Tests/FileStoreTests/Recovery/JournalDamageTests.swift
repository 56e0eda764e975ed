import DocumentModel
import DocumentStore
import Foundation
import Logging
import TestSupport
import Testing
import UTF8Text

@testable import FileStore
@testable import Journal

@Suite("Journal damage affects only the damaged commits, and no document that is on disk", .tags(.crash))
struct JournalDamageTests {
    private let fixture: StoreFixture
    private let logs = WarningLog()

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(arguments: [1, 3])
    func `After damage of the whole last segment, later commits survive crashes`(commits: Int) async throws {
        let name = try await fill(commits: commits)
        for record in try records(of: "data/journal/\(name)") { try flip("data/journal/\(name)", at: record.lowerBound + 20) }
        let store = try await fixture.open(logger: logs.logger)
        #expect(logs.warnings.count == 1)
        for number in commits..<(commits + 3) {
            #expect(try await store.set("c/d\(number)", ["n": .integer(Int64(number))]).sequence?.rawValue == UInt64(number + 1))
        }
        store.data.unlock()
        for _ in 0..<2 {
            let store = try await fixture.open()
            #expect(store.position.lastSequence.rawValue == UInt64(commits + 3))
            #expect(try await store.list("c").ids == (0..<(commits + 3)).map { "d\($0)" })
            store.data.unlock()
        }
    }

    @Test(
        arguments: [0, 5, 30]
    )
    func `A last record damaged after a clean shutdown is logged, and is missing from the history only`(byte: Int) async throws {
        let name = try await fill(commits: 3)
        let record = try #require(try records(of: "data/journal/\(name)").last)
        try flip("data/journal/\(name)", at: record.lowerBound + byte)
        let damaged = try fixture.folder.bytes(of: "data/journal/\(name)")
        let later = try await fixture.withStore(logger: logs.logger) { store throws in
            #expect(logs.warnings.map { $0["file.path"] } == ["journal/\(name)"])
            #expect(logs.warnings.map { $0["file.offset"] } == ["\(record.lowerBound)"])
            #expect(try await store.list("c").ids == ["d0", "d1", "d2"])
            #expect(store.position.oldestRetained.rawValue == 4)
            let later = try await store.set("c/later", [:])
            #expect(later.sequence?.rawValue == 4)
            #expect(try await store.firstCommits(1, after: SequenceNumber(3)).map(\.sequence.rawValue) == [4])
            await expectStatus(.outOfRange) { try await store.firstCommits(1, after: .zero) }
            return later
        }
        #expect(try fixture.folder.bytes(of: "data/journal/\(name)") == damaged)
        try await fixture.withStore { store throws in
            #expect(store.position.lastSequence == later.sequence)
            #expect(try await store.fields("c/later") != nil)
            // A watcher cannot resume within the damage.
            await expectStatus(.outOfRange) { try await store.firstCommits(3, after: .zero) }
        }
    }

    @Test
    func `Truncating an unreadable last batch after a crash is logged`() async throws {
        var name = ""
        try await fixture.withStore { store throws in
            for number in 0..<3 { try await store.set("c/d\(number)", [:]) }
            name = try #require(try fixture.folder.segments(in: "data").first)
            try fixture.folder.copy("data", to: "crashed")
        }
        let record = try #require(try records(of: "crashed/journal/\(name)").last)
        try flip("crashed/journal/\(name)", at: record.lowerBound + 20)
        try await fixture.withStore(at: "crashed", logger: logs.logger) { store throws in
            #expect(store.position.lastSequence.rawValue == 2)
        }
        #expect(logs.warnings.map { $0["file.path"] } == ["journal/\(name)"])
        #expect(logs.warnings.map { $0["file.offset"] } == ["\(record.lowerBound)"])
        #expect(logs.warnings.map { $0["recovery.truncated_bytes"] != nil } == [true])
    }

    @Test
    func `After a clean shutdown, a store with damage before intact commits opens; a check reports it, and a repair removes it`()
        async throws
    {
        let name = try await fill(commits: 6)
        let path = "data/journal/\(name)"
        let second = try records(of: path)[1]
        try flip(path, at: second.lowerBound + 20)
        let findings = try await fixture.findings()
        #expect(findings.map(\.kind) == [.damagedJournal])
        #expect(findings.first?.file.path == "journal/\(name)")
        #expect(findings.first?.message.contains("byte \(second.lowerBound)") == true)
        try fixture.folder.copy("data", to: "repaired")

        let later = try await fixture.withStore(logger: logs.logger) { store throws in
            #expect(logs.warnings.map { $0["file.path"] } == ["journal/\(name)"])
            #expect(logs.warnings.map { $0["file.offset"] } == ["\(second.lowerBound)"])
            #expect(try await store.list("c").ids == (0..<6).map { "d\($0)" })
            #expect(store.position.oldestRetained.rawValue == 7)
            let old = try #require(try await store.document(at: DocumentPath("c/d2"))?.updateTime)
            await expectStatus(.failedPrecondition) { try await store.document(at: DocumentPath("c/d5"), readTime: old) }
            let later = try await store.set("c/d5", ["n": .integer(50)]).commitTime
            try await store.set("c/d5", ["n": .integer(51)])
            return later
        }
        try await fixture.withStore { store throws in
            let then = try await store.document(at: DocumentPath("c/d5"), readTime: later)?.decoded().fields
            #expect(then == ["n": .integer(50)])
            #expect(try await store.firstCommits(2, after: SequenceNumber(6)).map(\.sequence.rawValue) == [7, 8])
        }
        for folder in ["data", "repaired"] {
            try await FileStore.repair(fixture.folder[folder], logger: .silent)
            #expect(try await fixture.check(folder).findings.isEmpty)
            try await fixture.withStore(at: folder) { store throws in #expect(try await store.list("c").ids.count == 6) }
        }
    }

    @Test
    func `After a crash, a store with damage before the checkpoint opens, and the commits after the checkpoint are replayed`()
        async throws
    {
        var fixture = fixture
        fixture.configuration.checkpointBytes = 1
        var name = ""
        try await fixture.withStore { store throws in
            for number in 0..<4 { try await store.set("c/d\(number)", [:]) }
            while store.data.manifest.sequence.rawValue < 4 { await Task.yield() }
            let description = try fixture.folder.text(of: "data/hearth.json")
            try await store.set("c/d4", [:])
            name = try #require(try fixture.folder.segments(in: "data").first)
            try fixture.folder.copy("data", to: "crashed")
            try fixture.folder.write(description, to: "crashed/hearth.json")
        }
        let second = try records(of: "crashed/journal/\(name)")[1]
        try flip("crashed/journal/\(name)", at: second.lowerBound + 20)
        try fixture.folder.remove("crashed/documents/c/d4.json")
        try await fixture.withStore(at: "crashed", logger: logs.logger) { store throws in
            #expect(try await store.list("c").ids == (0..<5).map { "d\($0)" })
            #expect(store.position.lastSequence.rawValue == 5)
        }
        #expect(logs.warnings.map { $0["file.offset"] } == ["\(second.lowerBound)"])
    }

    @Test(arguments: [3, 20])
    func `A segment with a damaged header is skipped after a clean shutdown`(byte: Int) async throws {
        let name = try await fill(commits: 3)
        try flip("data/journal/\(name)", at: byte)
        try await fixture.withStore(logger: logs.logger) { store throws in
            #expect(logs.warnings.map { $0["file.path"] } == ["journal/\(name)"])
            #expect(try await store.set("c/later", [:]).sequence?.rawValue == 4)
            try fixture.folder.copy("data", to: "crashed")
        }
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(try await store.list("c").ids == ["d0", "d1", "d2", "later"])
        }
        try await FileStore.repair(fixture.folder["data"], logger: .silent)
        #expect(try await fixture.findings().isEmpty)
    }

    @Test
    func `After a crash commits are appended to a new segment, and pages of the old one lost later are not needed`() async throws
    {
        let store = try await fixture.open()
        for number in 0..<3 { try await store.set("c/d\(number)", [:]) }
        store.data.unlock()
        let again = try await fixture.open()
        try await again.set("c/d3", [:])
        let names = try fixture.folder.segments(in: "data")
        #expect(names == [1, 4].map { JournalSegment.name(first: SequenceNumber($0)) })
        let last = try #require(try records(of: "data/journal/\(names[0])").last)
        again.data.unlock()
        // As if a failed sync had dropped these pages.
        try zero("data/journal/\(names[0])", last.lowerBound..<last.upperBound)
        try await fixture.withStore { store throws in
            #expect(try await store.list("c").ids == (0..<4).map { "d\($0)" })
            let path = try DocumentPath("c/d0")
            await expectStatus(.dataLoss) { try await store.history(of: path, before: nil, limit: 10) }
        }
    }
}

extension JournalDamageTests {
    @Test
    func `A journal damaged before later commits is set aside on request, and the documents stay as they are`() async throws {
        var name = ""
        try await fixture.withStore { store throws in
            for number in 0..<4 { try await store.set("c/d\(number)", ["n": .integer(Int64(number))]) }
            name = try #require(try fixture.folder.names(in: "data/journal").first { $0.hasSuffix(".journal") })
            try fixture.folder.copy("data", to: "crashed")
        }
        let path = fixture.folder["crashed"]
        // Nothing is set aside as long as recovery can read the journal.
        #expect(try await FileStore.setDamagedJournalAside(path) == nil)
        let second = try records(of: "crashed/journal/\(name)")[1]
        try flip("crashed/journal/\(name)", at: second.lowerBound + 20)
        let damaged = try fixture.folder.bytes(of: "crashed/journal/\(name)")
        let (report, findings) = try await fixture.check("crashed")
        #expect(findings.map(\.kind) == [.damagedJournal, .notClosed], "\(findings)")
        #expect(findings.first?.message.contains("--set-aside-journal") == true)
        let error = await expectStatus(.dataLoss) { try await FileStore.repair(path, after: report, logger: .silent) }
        #expect(error?.message.contains("--set-aside-journal") == true)

        #expect(try await FileStore.setDamagedJournalAside(path) == "journal.aside-1")
        #expect(try fixture.folder.bytes(of: "crashed/journal.aside-1/\(name)") == damaged)
        #expect(Set(try await fixture.check("crashed").findings.map(\.kind)).isSubset(of: [.damagedJournal, .notClosed]))
        try await FileStore.repair(path, after: report, logger: .silent)
        #expect(try await fixture.check("crashed").findings == [])
        try await fixture.withStore(at: "crashed") { store throws in
            #expect(try await store.list("c").ids == (0..<4).map { "d\($0)" })
            try await store.set("c/d4", [:])
        }
        #expect(try await fixture.check("crashed").findings == [])
    }

    @Test
    func `A journal that ends before commits that the files have is reported as such, and a repair accepts the files`()
        async throws
    {
        var name = ""
        try await fixture.withStore { store throws in
            for number in 0..<5 { try await store.set("c/d\(number)", ["n": .integer(Int64(number))]) }
            name = try #require(try fixture.folder.names(in: "data/journal").first { $0.hasSuffix(".journal") })
            try fixture.folder.copy("data", to: "crashed")
        }
        let records = try records(of: "crashed/journal/\(name)")
        try zero("crashed/journal/\(name)", records[2].lowerBound..<records[4].upperBound)
        let (report, findings) = try await fixture.check("crashed")
        #expect(findings.map(\.kind) == [.damagedJournal, .notClosed], "\(findings)")
        #expect(findings.first?.message.contains("ends with commit 2") == true)
        #expect(findings.first?.message.contains("the files of 3 documents are from later commits") == true)
        try await FileStore.repair(fixture.folder["crashed"], after: report, logger: .silent)
        #expect(try await fixture.check("crashed").findings == [])
        try await fixture.withStore(at: "crashed") { store throws in
            let last = try #require(try await store.document(at: DocumentPath("c/d4"))?.updateTime)
            #expect(try await store.set("c/d5", [:]).commitTime > last)
            #expect(try await store.list("c").ids == (0..<6).map { "d\($0)" })
        }
    }

    /// Creates and closes a database with some documents; returns the name of its only segment.
    private func fill(commits: Int) async throws -> String {
        try await fixture.withStore { store throws in
            for number in 0..<commits { try await store.set("c/d\(number)", ["n": .integer(Int64(number))]) }
        }
        let names = try fixture.folder.segments(in: "data")
        try #require(names.count == 1)
        return names[0]
    }

    /// Returns the ranges of a segment's records.
    private func records(of path: String) throws -> [Range<Int>] {
        let bytes = try fixture.folder.bytes(of: path)
        var records: [Range<Int>] = []
        var start = JournalSegment.headerBytes
        while case .record(_, let byteCount) = JournalRecord.read(bytes[start...]) {
            records.append(start..<(start + byteCount))
            start += byteCount
        }
        return records
    }

    private func flip(_ path: String, at offset: Int) throws {
        var bytes = try fixture.folder.bytes(of: path)
        bytes[offset] ^= 1
        try fixture.folder.write(bytes, to: path)
    }

    private func zero(_ path: String, _ range: Range<Int>) throws {
        var bytes = try fixture.folder.bytes(of: path)
        for offset in range { bytes[offset] = 0 }
        try fixture.folder.write(bytes, to: path)
    }
}
