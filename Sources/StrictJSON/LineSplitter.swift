/// Cuts a stream of bytes into its lines, at line feeds and nowhere else.
///
/// Chunks come as they come, also in the middle of a character; a line is handed out once its line feed is there. What is
/// kept is bounded: of a line longer than the limit only its length is remembered.
package struct LineSplitter: Sendable {
    private let maximumBytes: Int
    private var pending: [UInt8] = []
    private var start = 0
    /// Up to here there is no line feed.
    private var scanned = 0
    private var skippedBytes = 0

    /// What a line turned out to be.
    package enum Line: Hashable, Sendable {
        /// The line without its line feed.
        case complete([UInt8])
        /// A line over the limit, and how many bytes it had.
        case overlong(byteCount: Int)
    }

    /// Makes a splitter for lines of up to `maximumBytes` bytes, the line feed not counted.
    package init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Takes the next bytes of the stream. Take out all lines with ``next()`` before giving more.
    package mutating func append(_ chunk: some Collection<UInt8>) {
        pending.removeSubrange(..<start)
        scanned -= start
        start = 0
        pending.append(contentsOf: chunk)
    }

    /// The next line whose end has arrived; nil when more bytes are needed.
    package mutating func next() -> Line? {
        guard let end = pending[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = pending.count
            forgetOverlongBeginning()
            return nil
        }
        defer {
            start = end + 1
            scanned = start
        }
        return takeLine(upTo: end)
    }

    /// The bytes after the last line feed as a line; nil when there are none.
    package mutating func finish() -> Line? {
        guard start < pending.count || skippedBytes > 0 else { return nil }
        defer {
            start = pending.count
            scanned = start
        }
        return takeLine(upTo: pending.count)
    }

    private mutating func takeLine(upTo end: Int) -> Line {
        let byteCount = skippedBytes + end - start
        skippedBytes = 0
        return byteCount > maximumBytes ? .overlong(byteCount: byteCount) : .complete(Array(pending[start..<end]))
    }

    private mutating func forgetOverlongBeginning() {
        guard skippedBytes > 0 || pending.count - start > maximumBytes else { return }
        skippedBytes += pending.count - start
        start = pending.count
    }
}
