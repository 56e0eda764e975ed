package import DocumentModel
package import DocumentStore
package import StorageIO

extension Journal {
    /// Removes the oldest segment repeatedly, as long as it was last written before `oldest` or the journal is larger than
    /// `byteCount`.
    ///
    /// Keeps the last segment and every segment with commits after `checkpoint`, whose document files may not be durable yet. Keeps
    /// those that a ``SegmentRetention`` needs, unless the journal is larger than `byteCount` and what that may keep in addition.
    package func removeExpired(through checkpoint: SequenceNumber, before oldest: Timestamp, byteCount: Int) throws(StatusError) {
        let unneeded = withIndex { $0.unneeded(byteCount: byteCount + SegmentRetention.maximumBytes) }
        let checkpoint = min(checkpoint, unneeded ?? checkpoint)
        while let segment = withIndex({ $0.firstRemovable(through: checkpoint) }) {
            let modified = try reporting("inspect", Self.path(first: segment)) { () throws(FileSystemError) in
                try folder.descriptor.status(of: JournalSegment.name(first: segment))?.identity.modifiedSeconds ?? .min
            }
            let isExpired = modified < oldest.microseconds / 1_000_000
            guard isExpired || self.byteCount > byteCount else { return }
            try remove(segment)
        }
    }

    /// Moves all segments up to the last damaged one to another folder, so that the rest is readable without gaps, and none of
    /// their intact records is lost.
    ///
    /// The caller ensures that all document files are durable and that nothing is appended in the meantime.
    ///
    /// - Parameters:
    ///   - next: The sequence number after the last commit.
    ///   - makeFolder: Creates the other folder, if it is needed.
    package func moveDamaged(
        before next: SequenceNumber,
        to makeFolder: () throws(StatusError) -> SharedFileDescriptor
    ) throws(StatusError) {
        let segments = withIndex { $0.segments.map(\.first) }
        let ends = segments.dropFirst() + [next]
        var lastDamaged: SequenceNumber?
        for (segment, end) in zip(segments, ends) {
            let isIntact = try reporting("read", Self.path(first: segment)) { () throws(FileSystemError) -> Bool in
                try self.isIntact(segment, upTo: end)
            }
            if !isIntact { lastDamaged = segment }
        }
        guard let lastDamaged else { return }
        let other = try makeFolder()
        for segment in segments where segment <= lastDamaged {
            try remove(segment, "move") { name throws(FileSystemError) in
                try folder.descriptor.rename(name, to: name, in: other.descriptor)
                try other.descriptor.synchronize()
            }
        }
    }

    private func isIntact(_ segment: SequenceNumber, upTo end: SequenceNumber) throws(FileSystemError) -> Bool {
        let file = try folder.descriptor.openFile(JournalSegment.name(first: segment), for: .reading)
        let header = JournalSegment.readHeader(try file.read(JournalSegment.headerBytes))
        guard header == .segment(epoch: epoch, first: segment) else { return false }
        var reader = JournalSegmentReader(file)
        var expected = segment
        while expected < end {
            guard case .record(let record, _) = try reader.next(), record.commit.sequence == expected else { return false }
            expected = expected.next
        }
        return try reader.rest(from: reader.offset).lastNonzeroIndex == nil
    }

    /// Removes a segment and syncs the folder, so that a power failure leaves no gap: a file system may persist several removals
    /// in any order.
    private func remove(_ segment: SequenceNumber) throws(StatusError) {
        try remove(segment, "remove") { name throws(FileSystemError) in try folder.descriptor.removeFile(name) }
    }

    /// - Parameters:
    ///   - action: The verb for the error.
    ///   - body: Removes the segment's file from the folder.
    private func remove(
        _ segment: SequenceNumber,
        _ action: String,
        _ body: (String) throws(FileSystemError) -> Void
    ) throws(StatusError) {
        // Removed from the index first, so that a concurrent lookup does not return a segment that is being removed.
        withIndex { index in index.segments.removeAll { $0.first == segment } }
        try reporting(action, Self.path(first: segment)) { () throws(FileSystemError) in
            try body(JournalSegment.name(first: segment))
            try folder.descriptor.synchronize()
        }
    }
}

extension JournalIndex {
    /// Returns the last commit that no retention needs; `nil` if there is none. A journal that has become too large ends all of them.
    fileprivate mutating func unneeded(byteCount maximum: Int) -> SequenceNumber? {
        if byteCount > maximum { retentions = [:] }
        return retentions.values.min()
    }

    fileprivate func firstRemovable(through checkpoint: SequenceNumber) -> SequenceNumber? {
        guard segments.count > 1, segments[1].first <= checkpoint.next else { return nil }
        return segments[0].first
    }
}
