package import DocumentModel
package import DocumentStore
package import StorageIO

extension Journal {
    /// Reads the commits of a journal that is not open, or open in another process: as far as they can be read without a gap.
    ///
    /// - Parameters:
    ///   - folder: The folder of the segments.
    ///   - epoch: The epoch that the segments must belong to.
    ///   - sequence: The commit after which to begin.
    ///   - body: Called with each commit in order. Returns `false` to end the reading before it.
    /// - Returns: The last commit for which the body has returned `true`; `sequence` if there is none.
    package static func forEachCommit(
        in folder: SharedFileDescriptor,
        epoch: Epoch,
        after sequence: SequenceNumber,
        _ body: (Commit) throws(StatusError) -> Bool
    ) throws(StatusError) -> SequenceNumber {
        var last = sequence
        let segments = try index(of: folder.descriptor).segments.map(\.first)
        guard let start = segments.lastIndex(where: { $0 <= sequence.next }) else { return last }
        for segment in segments[start...] {
            // A gap, or a segment of the same history that is read already.
            guard segment <= last.next else { return last }
            guard
                var reader = try reporting(
                    "read",
                    path(first: segment),
                    { () throws(FileSystemError) in
                        try Self.reader(of: segment, in: folder, epoch: epoch)
                    }
                )
            else { return last }
            while case .record(let record, _) = try reporting(
                "read",
                path(first: segment),
                { () throws(FileSystemError) in
                    try reader.next()
                }
            ) {
                guard record.commit.sequence > last else { continue }
                guard record.commit.sequence == last.next, try body(record.commit) else { return last }
                last = record.commit.sequence
            }
        }
        return last
    }

    /// Opens a segment; `nil` if it was removed, or belongs to another history.
    static func reader(
        of segment: SequenceNumber,
        in folder: SharedFileDescriptor,
        epoch: Epoch
    ) throws(FileSystemError) -> JournalSegmentReader? {
        do throws(FileSystemError) {
            let file = try folder.descriptor.openFile(JournalSegment.name(first: segment), for: .reading)
            let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
            return header == .segment(epoch: epoch, first: segment) ? JournalSegmentReader(file) : nil
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }
}
