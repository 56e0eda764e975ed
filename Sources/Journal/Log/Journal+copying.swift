package import DocumentModel
package import DocumentStore
package import StorageIO

extension Journal {
    /// The first bytes of a segment, which contain the commits up to the last one that is wanted.
    package struct SegmentPart {
        /// The first commit of the segment.
        package let first: SequenceNumber
        /// The segment's file in the folder ``Journal/folderName``.
        package let name: String
        /// The number of bytes.
        package let byteCount: Int
    }

    /// Returns the parts of the segments that contain the retained commits after `first` up to `last`, in order.
    ///
    /// - Throws: `.dataLoss` if the journal cannot be read up to the last commit.
    package func segmentParts(
        after first: SequenceNumber = .zero,
        through last: SequenceNumber
    ) throws(StatusError) -> [SegmentPart] {
        let segments = withIndex { $0.segments.filter { $0.first <= last } }
        var parts: [SegmentPart] = []
        for (index, segment) in segments.enumerated() {
            let next = index + 1 < segments.count ? segments[index + 1].first : nil
            if let next, next <= first.next { continue }
            let byteCount = next == nil ? try end(of: last, in: segment.first) : segment.byteCount
            parts.append(SegmentPart(first: segment.first, name: segment.name, byteCount: byteCount))
        }
        return parts
    }

    /// Opens the file of a segment for reading.
    package func openSegment(_ name: String) throws(StatusError) -> SharedFileDescriptor {
        try reporting("open", "\(Self.folderName)/\(name)") { () throws(FileSystemError) in
            SharedFileDescriptor(try folder.descriptor.openFile(name, for: .reading))
        }
    }

    /// Returns the offset after the record of a commit.
    private func end(of sequence: SequenceNumber, in segment: SequenceNumber) throws(StatusError) -> Int {
        let sample = withIndex { $0.nearestSample(to: sequence) }
        let isSampled = sample?.segment == segment
        guard
            var reader = try reader(
                of: segment,
                from: isSampled ? sample?.sample.offset ?? JournalSegment.headerBytes : JournalSegment.headerBytes,
                windowBytes: 256 << 10
            )
        else { throw Self.unreadable(sequence, in: segment) }
        var expected = isSampled ? sample?.sample.sequence ?? segment : segment
        while expected <= sequence {
            let result = try reporting("read", Self.path(first: segment)) { () throws(FileSystemError) in try reader.next() }
            // Commits before the last damage are not readable one by one; the next intact record goes on.
            guard case .record(let record, _) = result, record.commit.sequence >= expected else {
                throw Self.unreadable(sequence, in: segment)
            }
            expected = record.commit.sequence.next
        }
        return reader.offset
    }

    private static func unreadable(_ sequence: SequenceNumber, in segment: SequenceNumber) -> StatusError {
        StatusError(
            .dataLoss,
            "Commit \(sequence) cannot be read: \(path(first: segment)) in the data folder is damaged. Restart Hearth, which then "
                + "needs it no longer, and try again."
        )
    }
}
