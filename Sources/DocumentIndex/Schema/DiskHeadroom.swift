internal import DocumentModel
internal import StorageIO

/// The free disk space that the index may use. The last part of the free space is reserved for documents and the journal, since
/// the index can be rebuilt.
enum DiskHeadroom {
    case ample
    /// The index is written in small transactions, each followed by a checkpoint that truncates the WAL.
    case low
    /// The index must not be written.
    case exhausted

    /// The reserved space, limited to a fraction of a small disk.
    private static let reservedBytes = 8 << 20
    private static let reservedFraction = 32
    /// The multiple of the reserved space below which headroom is low.
    private static let lowHeadroomMultiple = 32

    init(on disk: (total: Int, free: Int)) {
        let reserved = min(Self.reservedBytes, disk.total / Self.reservedFraction)
        self =
            switch disk.free {
            case ..<reserved: .exhausted
            case ..<(Self.lowHeadroomMultiple * reserved): .low
            default: .ample
            }
    }

    /// The maximum size of the documents in one transaction while headroom is low. A commit is never split.
    static let batchBytes = 256 << 10

    /// The error for index operations while headroom is exhausted.
    static let exhaustedError = StatusError(
        .resourceExhausted,
        "The index cannot be written: the disk is nearly full, and the remaining space is reserved for documents. Free some space; "
            + "indexing then resumes automatically. Document reads and writes are unaffected."
    )
}

extension IndexFile {
    /// Returns the free disk space that the index may use.
    func diskHeadroom() throws(StatusError) -> DiskHeadroom {
        DiskHeadroom(
            on: try reporting("get the free disk space of", Self.name) { () throws(FileSystemError) in try folder.diskSpace() }
        )
    }

    /// The size of the file; 0 when it is unknown.
    var byteCount: Int { Int((try? folder.identity(ofFile: Self.name))?.size ?? 0) }
}
