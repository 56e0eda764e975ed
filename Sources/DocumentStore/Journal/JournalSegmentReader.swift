/// Reads the frames of a segment one after another, in large reads.
struct JournalSegmentReader: ~Copyable {
    private let file: FileDescriptor
    /// How many bytes are read at a time, or more where a frame is longer.
    private let windowBytes: Int
    private var window: [UInt8] = []
    private var windowOffset = 0

    /// Where the next frame begins.
    private(set) var offset: Int

    /// Reads from the first frame on, or from a frame known to begin at `offset`.
    init(_ file: consuming FileDescriptor, from offset: Int = JournalSegment.headerBytes, windowBytes: Int = 256 << 10) {
        self.file = file
        self.offset = offset
        self.windowBytes = windowBytes
    }

    /// What stands at ``offset``, which a frame moves to its end. Never ``JournalFrame/Reading/incomplete(byteCount:)``.
    mutating func next() throws(SystemError) -> JournalFrame.Reading {
        var wanted = windowBytes
        var isFresh = false
        while true {
            if isFresh || window.endIndex <= offset - windowOffset {
                window = try file.read(wanted, at: offset)
                windowOffset = offset
                isFresh = true
            }
            let reading = JournalFrame.read(window[(offset - windowOffset)...])
            switch reading {
            case .frame(_, let byteCount):
                offset += byteCount
                return reading
            case .end, .damaged:
                // At the end of the window a frame's first bytes may look like anything.
                if isFresh { return reading }
                isFresh = true
            case .incomplete(let byteCount):
                if isFresh && window.count < wanted { return .damaged }
                wanted = max(windowBytes, byteCount)
                isFresh = true
            }
        }
    }

    /// Goes on reading at another place, where a frame begins.
    mutating func go(to offset: Int) {
        self.offset = offset
        window = []
    }

    /// The first intact frame at or behind `offset` that is wanted; nil when there is none.
    func firstFrame(
        from offset: Int,
        where isWanted: (JournalFrame) -> Bool
    ) throws(SystemError) -> (frame: JournalFrame, offset: Int)? {
        let bytes = try rest(from: offset)
        guard let last = bytes.lastNonzeroIndex else { return nil }
        for start in stride(from: 0, through: last, by: JournalFrame.alignment) {
            if case .frame(let frame, _) = JournalFrame.read(bytes[start...]), isWanted(frame) { return (frame, offset + start) }
        }
        return nil
    }

    /// Everything from a place on.
    func rest(from offset: Int) throws(SystemError) -> [UInt8] {
        try file.read(max(0, file.status().size - offset), at: offset)
    }
}
