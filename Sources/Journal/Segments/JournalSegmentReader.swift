package import StorageIO

/// A sequential reader of a segment's records, with read-ahead.
package struct JournalSegmentReader: ~Copyable {
    private let file: FileDescriptor
    /// The size of one read; a longer record is read in one piece.
    private let windowBytes: Int
    private var window: [UInt8] = []
    private var windowOffset = 0

    /// The offset of the next record.
    package private(set) var offset: Int

    /// Creates a reader that starts at `offset`, which must be the offset of a record; by default that of the first.
    package init(_ file: consuming FileDescriptor, from offset: Int = JournalSegment.headerBytes, windowBytes: Int = 256 << 10) {
        self.file = file
        self.offset = offset
        self.windowBytes = windowBytes
    }

    /// Decodes the record at ``offset`` and advances past it. Never returns ``JournalRecord/ReadResult/incomplete(byteCount:)``.
    package mutating func next() throws(FileSystemError) -> JournalRecord.ReadResult {
        var wanted = windowBytes
        var isFresh = false
        while true {
            if isFresh || window.endIndex <= offset - windowOffset {
                window = try file.read(wanted, at: offset)
                windowOffset = offset
                isFresh = true
            }
            let result = JournalRecord.read(window[(offset - windowOffset)...])
            switch result {
            case .record(_, let byteCount):
                offset += byteCount
                return result
            case .end, .damaged:
                // A record cut off by the end of the window can look like either.
                if isFresh { return result }
                isFresh = true
            case .incomplete(let byteCount):
                if isFresh && window.count < wanted { return .damaged }
                wanted = max(windowBytes, byteCount)
                isFresh = true
            }
        }
    }

    /// Continues at another record.
    package mutating func seek(to offset: Int) {
        self.offset = offset
        window = []
    }

    /// Returns the first intact record at or after `offset` that satisfies a predicate; `nil` if there is none.
    ///
    /// Reads the rest of the segment and tries every aligned offset, so it also finds records after damage.
    package func firstRecord(
        from offset: Int,
        where predicate: (JournalRecord) -> Bool
    ) throws(FileSystemError) -> (record: JournalRecord, offset: Int)? {
        let bytes = try rest(from: offset)
        guard let last = bytes.lastNonzeroIndex else { return nil }
        for start in stride(from: 0, through: last, by: JournalRecord.alignment) {
            if case .record(let record, _) = JournalRecord.read(bytes[start...]), predicate(record) {
                return (record, offset + start)
            }
        }
        return nil
    }

    /// Returns all bytes from `offset` to the end of the file.
    package func rest(from offset: Int) throws(FileSystemError) -> [UInt8] {
        try file.read(max(0, file.status().size - offset), at: offset)
    }
}
