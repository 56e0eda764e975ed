internal import DocumentModel

/// How much room the disk has left for the index. It begins nothing that may take the last of it: documents and their journal need
/// that, and an index can be made anew.
enum IndexRoom {
    case enough
    /// The index is to be written in small steps, and its log made empty after each.
    case little
    /// The index is not to be written.
    case exhausted

    /// What is left to documents, but no more than this part of a small disk.
    private static let reservedBytes = 8 << 20
    private static let reservedPart = 32
    /// There is little room below so many times that.
    private static let littleFactor = 32

    init(on disk: (total: Int, free: Int)) {
        let reserved = min(Self.reservedBytes, disk.total / Self.reservedPart)
        self =
            switch disk.free {
            case ..<reserved: .exhausted
            case ..<(Self.littleFactor * reserved): .little
            default: .enough
            }
    }

    /// How many bytes of documents are taken in with one step while there is little room; a commit is never divided.
    static let stepBytes = 256 << 10

    /// What is said where there is none.
    static let failure = StatusError(
        .resourceExhausted,
        "The index can't be written: the disk is nearly full, and what is left is for documents. Free some space. Documents can be "
            + "read and written without it, and it goes on by itself."
    )
}

extension IndexFile {
    /// How much room there is for it.
    func room() throws(StatusError) -> IndexRoom {
        IndexRoom(on: try reporting("look at the disk of", Self.name) { () throws(SystemError) in try data.root.diskSpace() })
    }

    /// How many bytes it has; 0 where that can't be told.
    var byteCount: Int { Int((try? data.identity(ofFile: Self.name))?.size ?? 0) }
}
