import DocumentModel
import DocumentStore
import Testing
import UTF8Text

@testable import Journal

@Suite("The journal's format")
struct JournalRecordTests {
    @Test
    func `A record is laid out as documented`() throws {
        let bytes = """
            3f 00 00 00 9c 99 5b 88  01 00 00 00 00 00 00 00
            01 00 00 00 00 00 00 00  46 d3 4d c0 ed 0d 06 00
            01 00 00 00 01 03 00 00  00 61 2f 62 46 d3 4d c0
            ed 0d 06 00 46 d3 4d c0  ed 0d 06 00 07 00 00 00
            7b 22 6e 22 3a 31 7d 00
            """
        #expect(Self.hexadecimal(try Self.record()) == bytes)
    }

    @Test
    func `A segment's header is laid out as documented`() throws {
        let bytes = """
            48 65 61 72 74 68 4a 0a  04 00 00 00 a4 a7 03 c1
            00 01 02 03 04 05 06 07  08 09 0a 0b 0c 0d 0e 0f
            01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
            00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
            """
        let epoch = try #require(Epoch(bytes: 0..<16))
        let header = JournalSegment.header(epoch: epoch, first: SequenceNumber(1))
        #expect(Self.hexadecimal(header) == bytes)
        #expect(JournalSegment.readHeader(header) == .segment(epoch: epoch, first: SequenceNumber(1)))
    }

    @Test
    func `Segments of earlier format versions are read, and of a later one rejected`() throws {
        let epoch = Epoch.random()
        var header = JournalSegment.header(epoch: epoch, first: SequenceNumber(7))
        for version in [2, 3] as [UInt8] {
            header[8] = version
            #expect(JournalSegment.readHeader(header) == .segment(epoch: epoch, first: SequenceNumber(7)))
        }
        header[8] = 5
        #expect(JournalSegment.readHeader(header) == .unsupportedVersion(5))
    }

    @Test
    func `A record survives a round trip`() throws {
        let bytes = try Self.record()
        guard case .record(let record, let byteCount) = JournalRecord.read(bytes[...]) else {
            Issue.record("not a record")
            return
        }
        #expect(record.commit == (try Self.commit()))
        #expect(record.batch == SequenceNumber(1))
        #expect(byteCount == bytes.count)
    }

    @Test(arguments: [false, true])
    func `A before-image survives a round trip, even that of a deleted document`(isDeleted: Bool) throws {
        let created = try Self.commit()
        let old = try #require(created.changes.first?.after)
        let change = CommittedChange(path: old.path, before: old, after: isDeleted ? nil : old, existedBefore: true)
        let commit = Commit(sequence: SequenceNumber(2), time: created.time, changes: [change])
        var bytes: [UInt8] = []
        JournalRecord.append(commit, batch: SequenceNumber(2), to: &bytes) { _ in true }
        guard case .record(let record, _) = JournalRecord.read(bytes[...]) else {
            Issue.record("not a record")
            return
        }
        #expect(record.commit == commit)
    }

    @Test
    func `The author of a commit survives a round trip`() throws {
        let made = try Self.commit()
        let commit = Commit(sequence: made.sequence, time: made.time, author: UTF8Key("0a1b2c3d"), changes: made.changes)
        var bytes: [UInt8] = []
        JournalRecord.append(commit, batch: made.sequence, to: &bytes) { _ in true }
        guard case .record(let record, let byteCount) = JournalRecord.read(bytes[...]) else {
            Issue.record("not a record")
            return
        }
        #expect(record.commit == commit)
        #expect(byteCount == bytes.count)
    }

    @Test(arguments: [nil, "0a1b2c3d"])
    func `The receipt of a commit survives a round trip, with its results and without`(author: UTF8Key?) throws {
        let made = try Self.commit()
        let client = try #require(CommitClientID(bytes: 1...16))
        let identity = CommitIdentity(client: client, number: 17, after: 16, fingerprint: .max)
        let results = [WriteResult(updateTime: made.time, transformResults: [.integer(5), .null]), WriteResult(updateTime: nil)]
        for receipt in [CommitReceipt(identity, writeResults: results), CommitReceipt(identity, writeResults: nil)] {
            for changes in [made.changes, []] {
                let commit = Commit(
                    sequence: made.sequence,
                    time: made.time,
                    author: author,
                    changes: changes,
                    receipt: receipt
                )
                var bytes: [UInt8] = []
                JournalRecord.append(commit, batch: made.sequence, to: &bytes) { _ in true }
                guard case .record(let record, let byteCount) = JournalRecord.read(bytes[...]) else {
                    Issue.record("not a record")
                    return
                }
                #expect(record.commit == commit)
                #expect(byteCount == bytes.count)
            }
        }
    }

    @Test
    func `A record with any byte changed is damaged or incomplete`() throws {
        let bytes = try Self.record()
        for index in bytes.indices.dropLast() {
            var changed = bytes
            changed[index] ^= 0x40
            if case .record = JournalRecord.read(changed[...]) { Issue.record("a change to byte \(index) is not detected") }
        }
    }

    @Test
    func `A record truncated at any byte is not read`() throws {
        let bytes = try Self.record()
        for count in 1..<(bytes.count - 1) {
            if case .record = JournalRecord.read(bytes.prefix(count)) { Issue.record("\(count) bytes are read as a record") }
        }
    }

    @Test(arguments: [0, 3, 8, 100])
    func `Zeros are the end of the records`(count: Int) {
        #expect(JournalRecord.read([UInt8](repeating: 0, count: count)[...]) == .end)
    }

    private static func record() throws -> [UInt8] {
        var bytes: [UInt8] = []
        JournalRecord.append(try commit(), batch: SequenceNumber(1), to: &bytes) { _ in true }
        return bytes
    }

    private static func commit() throws -> Commit {
        let time = try Timestamp(rfc3339: "2024-01-02T03:04:05.000006Z")
        let document = Document(path: try DocumentPath("a/b"), fields: ["n": .integer(1)], createTime: time, updateTime: time)
        let change = CommittedChange(path: document.path, before: nil, after: EncodedDocument(document), existedBefore: false)
        return Commit(sequence: SequenceNumber(1), time: time, changes: [change])
    }

    /// Formats bytes as a hex dump with 16 bytes per line.
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        stride(from: 0, to: bytes.count, by: 16).map { line in
            let halves = [bytes[line...].prefix(8), bytes[line...].dropFirst(8).prefix(8)].filter { !$0.isEmpty }
            return halves.map { half in
                half.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
