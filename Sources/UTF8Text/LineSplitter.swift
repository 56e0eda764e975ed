/// A splitter of a byte stream into lines, at line feeds.
///
/// Chunks may end anywhere, even inside a character. A line is returned once its line feed has arrived. Memory is
/// bounded: for a line over the limit, only the length is kept.
package struct LineSplitter: Sendable {
    private let maximumBytes: Int
    private var pending: [UInt8] = []
    private var start = 0
    /// The index up to which `pending` is known to have no line feed.
    private var scanned = 0
    private var skippedBytes = 0

    /// A line, or the length of one over the limit.
    package enum Line: Hashable, Sendable {
        /// The line without its line feed.
        case complete([UInt8])
        /// A line over the limit, with its length in bytes.
        case overlong(byteCount: Int)
    }

    /// Creates a splitter for lines of up to `maximumBytes` bytes, not counting the line feed.
    package init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    /// Appends the next bytes of the stream. Call ``next()`` until it returns `nil` before appending more.
    package mutating func append(_ chunk: some Collection<UInt8>) {
        pending.removeSubrange(..<start)
        scanned -= start
        start = 0
        pending.append(contentsOf: chunk)
    }

    /// Returns the next complete line, or `nil` if more bytes are needed.
    package mutating func next() -> Line? {
        guard let end = pending[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
            scanned = pending.count
            discardOverlongPrefix()
            return nil
        }
        defer {
            start = end + 1
            scanned = start
        }
        return popLine(upTo: end)
    }

    /// Returns the bytes after the last line feed as a line, or `nil` if there are none.
    package mutating func finish() -> Line? {
        guard start < pending.count || skippedBytes > 0 else { return nil }
        defer {
            start = pending.count
            scanned = start
        }
        return popLine(upTo: pending.count)
    }

    private mutating func popLine(upTo end: Int) -> Line {
        let byteCount = skippedBytes + end - start
        skippedBytes = 0
        return byteCount > maximumBytes ? .overlong(byteCount: byteCount) : .complete(Array(pending[start..<end]))
    }

    private mutating func discardOverlongPrefix() {
        guard skippedBytes > 0 || pending.count - start > maximumBytes else { return }
        skippedBytes += pending.count - start
        start = pending.count
    }
}
