import DocumentModel
import DocumentStore
import Foundation
import StorageIO
import TestSupport
import Testing
import UTF8Text

@testable import Journal

@Suite("Reader of journal records")
struct JournalRecordReaderTests {
    @Test
    func `The changes of a commit are read at once, also of one that is too large for the cache`() throws {
        let folder = try TemporaryFolder(in: TemporaryFolder.memory)
        let journal = Journal(
            folder: try FileDescriptor.folder(atPath: folder.path),
            index: JournalIndex(),
            epoch: .random(),
            segmentBytes: 1 << 20
        )
        let time = try Timestamp(microseconds: 1)
        let text = String(repeating: "x", count: 900_000)
        let changes = try (0..<20).map { number in
            let document = Document(
                path: try DocumentPath("c/d\(number)"),
                fields: ["text": .string(text)],
                createTime: time,
                updateTime: time
            )
            return CommittedChange(path: document.path, before: nil, after: EncodedDocument(document), existedBefore: false)
        }
        let commit = Commit(sequence: SequenceNumber(1), time: time, changes: changes)
        var writer = JournalWriter(journal)
        let batch = try writer.append([commit])
        #expect(batch.byteCount > 16 << 20)
        var index = SegmentIndex(segment: batch.segment)
        index.append(commit, offset: batch.offsets[0])
        var reader = JournalRecordReader(journal, JournalRecordCache(maximumBytes: 16 << 20))
        #expect(try reader.change(to: changes[0].path, at: 0, in: index) == changes[0])
        // Nothing is read again.
        try FileManager.default.removeItem(atPath: folder[JournalSegment.name(first: SequenceNumber(1))])
        for change in changes { #expect(try reader.change(to: change.path, at: 0, in: index) == change) }
        #expect(try reader.commit(at: 0, in: index).changes == changes)
        writer.close()
    }
}
