internal import DocumentModel

extension Journal {
    /// Removes the oldest segments while they were written before `oldest` or all take more than `byteCount`, but none with commits
    /// after `checkpoint`, whose documents' files may not be on disk yet, and never the last.
    func retire(through checkpoint: SequenceNumber, before oldest: Timestamp, byteCount: Int) throws(StatusError) {
        while let segment = withIndex({ $0.retirable(through: checkpoint) }) {
            let written = try reporting("look at", Self.path(first: segment)) { () throws(SystemError) in
                try folder.status(of: JournalSegment.name(first: segment))?.identity.modifiedSeconds ?? .min
            }
            let isOld = written < oldest.microseconds / 1_000_000
            guard isOld || self.byteCount > byteCount else { return }
            try remove(segment)
        }
    }

    /// Removes the segments up to the last that can't be read through, so that what is left is whole.
    ///
    /// - Parameter next: The commit behind the last one. All documents' files must be on disk, and nobody write meanwhile.
    func removeDamaged(before next: SequenceNumber) throws(StatusError) {
        let segments = withIndex { $0.segments.map(\.first) }
        let ends = segments.dropFirst() + [next]
        var lastDamaged: SequenceNumber?
        for (segment, end) in zip(segments, ends) {
            let isWhole = try reporting("read", Self.path(first: segment)) { () throws(SystemError) -> Bool in
                try self.isWhole(segment, upTo: end)
            }
            if !isWhole { lastDamaged = segment }
        }
        guard let lastDamaged else { return }
        for segment in segments where segment <= lastDamaged { try remove(segment) }
    }

    private func isWhole(_ segment: SequenceNumber, upTo end: SequenceNumber) throws(SystemError) -> Bool {
        let file = try folder.openFile(JournalSegment.name(first: segment), for: .reading)
        let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
        guard header == .segment(epoch: epoch, first: segment) else { return false }
        var reader = JournalSegmentReader(file)
        var expected = segment
        while expected < end {
            guard case .frame(let frame, _) = try reader.next(), frame.commit.sequence == expected else { return false }
            expected = expected.next
        }
        return try reader.rest(from: reader.offset).lastNonzeroIndex == nil
    }

    /// One at a time, so that a power cut leaves no gap: a file system may keep removals in any order.
    private func remove(_ segment: SequenceNumber) throws(StatusError) {
        // First forgotten, then removed: who looks it up in between must not find half of it.
        withIndex { index in index.segments.removeAll { $0.first == segment } }
        try reporting("remove", Self.path(first: segment)) { () throws(SystemError) in
            try folder.removeFile(JournalSegment.name(first: segment))
            try folder.synchronize()
        }
    }
}

extension JournalIndex {
    fileprivate func retirable(through checkpoint: SequenceNumber) -> SequenceNumber? {
        guard segments.count > 1, segments[1].first <= checkpoint.next else { return nil }
        return segments[0].first
    }
}
