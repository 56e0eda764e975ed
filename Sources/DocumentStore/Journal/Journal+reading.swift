internal import DocumentModel

extension Journal {
    /// Begins to read a segment, at its first frame or at one that begins at `offset`; nil when it is no longer kept.
    func reader(
        of segment: SequenceNumber,
        from offset: Int = JournalSegment.headerBytes,
        windowBytes: Int
    ) throws(StatusError) -> JournalSegmentReader? {
        do throws(SystemError) {
            let file = try folder.openFile(JournalSegment.name(first: segment), for: .reading)
            return JournalSegmentReader(file, from: offset, windowBytes: windowBytes)
        } catch {
            if error.isNotFound { return nil }
            throw error.status("read", Self.path(first: segment))
        }
    }

    /// The first commits of the segments that are kept, in order.
    var segments: [SequenceNumber] {
        withIndex { index in index.segments.map(\.first).filter { $0 >= index.beginning } }
    }

    /// The first commit of the segment behind one; nil when that is the last.
    func segment(after segment: SequenceNumber) -> SequenceNumber? {
        withIndex { $0.segments.first { $0.first > segment }?.first }
    }

    /// How many bytes of commits are read at a time.
    private static let readBytes = 1 << 20

    /// The commits after `sequence` up to `last`: at least one, as many as are read in one go.
    ///
    /// - Throws: `.outOfRange` when the commit behind `sequence` is no longer kept, or can't be read any more.
    func commits(after sequence: SequenceNumber, through last: SequenceNumber) throws(StatusError) -> [Commit] {
        let wanted = sequence.next
        guard let (segment, place) = withIndex({ $0.place(of: wanted) }) else { throw Self.forgotten(sequence) }
        var commits: [Commit] = []
        do throws(SystemError) {
            let file = try folder.openFile(JournalSegment.name(first: segment), for: .reading)
            var reader = JournalSegmentReader(file, from: place.offset)
            var expected = place.sequence
            while expected <= last, reader.offset < place.offset + Self.readBytes || commits.isEmpty {
                guard case .frame(let frame, _) = try reader.next(), frame.commit.sequence == expected else { break }
                if expected >= wanted { commits.append(frame.commit) }
                withIndex {
                    $0.note(JournalIndex.Place(sequence: expected.next, offset: reader.offset), in: segment)
                }
                expected = expected.next
            }
        } catch {
            // It may have been retired since it was looked up.
            if error.isNotFound { throw Self.forgotten(sequence) }
            throw error.status("read", Self.path(first: segment))
        }
        guard !commits.isEmpty else {
            throw StatusError(
                .outOfRange,
                "Commit \(wanted) can't be read from \(Self.path(first: segment)) in the data folder: the segment is damaged. "
                    + "The documents are not affected. Begin watching anew."
            )
        }
        return commits
    }

    private static func forgotten(_ sequence: SequenceNumber) -> StatusError {
        StatusError(
            .outOfRange,
            "The commits after \(sequence) are no longer kept. Read the documents anew and watch from there."
        )
    }
}
