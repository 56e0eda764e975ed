internal import Dispatch
internal import DocumentModel
internal import Synchronization

/// The journal folder: which segments there are, making and removing them, and reading commits back.
final class Journal: Sendable {
    /// The size to which segments are preallocated, where the disk is not nearly full.
    let segmentBytes: Int
    /// The history that the segments belong to.
    let epoch: Epoch

    let folder: FileDescriptor
    private let index: Mutex<JournalIndex>
    private let spare = Mutex(Spare.none)
    private let spareQueue = DispatchQueue(label: "hearth.journal.spare", qos: .utility)

    /// A zeroed file that waits to become the next segment.
    private enum Spare {
        case none
        case making
        case ready(JournalFile)
    }

    /// Takes over a journal folder with the segments in `index`.
    init(folder: consuming FileDescriptor, index: JournalIndex, epoch: Epoch, segmentBytes: Int) {
        self.folder = folder
        self.index = Mutex(index)
        self.epoch = epoch
        self.segmentBytes = segmentBytes
    }

    /// A segment's path in the data folder.
    static func path(first: SequenceNumber) -> String {
        "\(DataFolder.journalName)/\(JournalSegment.name(first: first))"
    }

    /// The oldest commit that is kept, or nil when there is no segment.
    var oldest: SequenceNumber? {
        index.withLock { $0.oldest }
    }

    /// How many bytes all segments take.
    var byteCount: Int {
        index.withLock { $0.byteCount }
    }

    /// Looks at, or changes, what is known of the segments.
    func withIndex<Result>(_ body: (inout JournalIndex) -> Result) -> Result {
        index.withLock { body(&$0) }
    }
}

extension Journal {
    /// Notes where the commits of a batch have been written.
    func wrote(first: SequenceNumber, starts: [Int], segment: SequenceNumber) {
        index.withLock { index in
            var sequence = first
            for start in starts {
                index.note(JournalIndex.Place(sequence: sequence, offset: start), in: segment)
                sequence = sequence.next
            }
        }
    }

    /// Notes a segment's size on disk.
    func cut(segment: SequenceNumber, to byteCount: Int) {
        index.withLock { index in
            guard let position = index.segments.lastIndex(where: { $0.first == segment }) else { return }
            index.segments[position].byteCount = byteCount
        }
    }

    /// Makes the segment that begins with `first`; its name and header are on disk when this returns.
    func makeSegment(first: SequenceNumber) throws(StatusError) -> JournalFile {
        let name = JournalSegment.name(first: first)
        do throws(SystemError) {
            let made = if let spare = takeSpare() { spare } else { try makeSpare() }
            let file = made.descriptor
            try file.descriptor.write(JournalSegment.header(epoch: epoch, first: first))
            try file.descriptor.synchronizeData()
            try folder.rename(Self.spareName, to: name)
            try folder.synchronize()
            index.withLock { index in
                // Recovery may have left one without commits, which has been replaced now.
                index.segments.removeAll { $0.first == first }
                index.segments.append(JournalIndex.Segment(first: first, byteCount: made.byteCount))
            }
            return made
        } catch {
            _ = try? folder.removeFile(Self.spareName)
            throw error.status("make", Self.path(first: first))
        }
    }

    /// Makes the next segment's file in the background, unless it is there.
    func prepareSpare() {
        let begins = spare.withLock { spare in
            switch spare {
            case .none:
                spare = .making
                return true
            case .making, .ready:
                return false
            }
        }
        guard begins else { return }
        spareQueue.async { [self] in
            // When this fails, the segment is made when it is needed, and the error reported then.
            let made = hasRoomForSpare ? try? makeSpare() : nil
            spare.withLock { $0 = made.map(Spare.ready) ?? .none }
        }
    }

    /// Removes the file that was prepared, once it is; the journal is not written any more.
    func discardSpare() {
        spareQueue.sync {}
        spare.withLock { $0 = .none }
        // One of an earlier life may be there too. When this fails the file stays, which does no harm.
        _ = try? folder.removeFile(Self.spareName)
    }

    /// The file that was prepared, once it is, or nil when none was.
    private func takeSpare() -> JournalFile? {
        // Waits for one that is being made.
        spareQueue.sync {}
        return spare.withLock { spare in
            guard case .ready(let file) = spare else { return nil }
            spare = .none
            return file
        }
    }

    /// Whether there would be room for more after a spare was made, which may be needed sooner.
    private var hasRoomForSpare: Bool {
        guard let free = try? folder.freeBytes() else { return true }
        return free / 2 > segmentBytes
    }

    private func makeSpare() throws(SystemError) -> JournalFile {
        try folder.removeFile(Self.spareName)
        do throws(SystemError) {
            let file = try folder.openFile(Self.spareName, for: .creating)
            let byteCount = try fill(file, from: 0, atLeast: JournalSegment.headerBytes)
            return JournalFile(descriptor: SharedDescriptor(file), byteCount: byteCount)
        } catch {
            // What was written of it takes the place that others may need.
            _ = try? folder.removeFile(Self.spareName)
            throw error
        }
    }

    /// The name of a file that is no segment yet.
    static let spareName = TemporaryName.fixed("spare")
}
