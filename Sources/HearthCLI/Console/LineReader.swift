import DocumentModel
import HearthTransport
import UTF8Text

/// An iterator over the lines of a file or of standard input.
struct LineReader {
    /// The number of the line last returned by ``next()``, from 1.
    private(set) var lineNumber = 0
    private let file: InputFile
    private var splitter: LineSplitter
    private var isAtEnd = false

    /// The name of the file in messages.
    var name: String { file.name }

    /// The number of bytes read so far, which may be ahead of the lines.
    var readCount: Int { file.readCount }

    /// The size of the file; `nil` if it is not a regular file.
    var byteCount: Int? { file.byteCount }

    /// Opens a file; `-` is standard input.
    init(path: String, maximumLineBytes: Int) throws(StatusError) {
        file = try InputFile(path)
        splitter = LineSplitter(maximumBytes: maximumLineBytes)
    }

    /// Returns the next line; `nil` after the last one.
    mutating func next() throws(StatusError) -> LineSplitter.Line? {
        while true {
            if let line = splitter.next() ?? (isAtEnd ? splitter.finish() : nil) {
                lineNumber += 1
                return line
            }
            guard !isAtEnd else { return nil }
            if let chunk = try file.nextChunk() { splitter.append(chunk) } else { isAtEnd = true }
        }
    }
}
