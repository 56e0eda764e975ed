import Testing
import UTF8Text

@Suite("Line splitter")
struct LineSplitterTests {
    private func lines(_ chunks: [[UInt8]], maximumBytes: Int = 10) -> [LineSplitter.Line] {
        var splitter = LineSplitter(maximumBytes: maximumBytes)
        var lines: [LineSplitter.Line] = []
        for chunk in chunks {
            splitter.append(chunk)
            while let line = splitter.next() { lines.append(line) }
        }
        if let line = splitter.finish() { lines.append(line) }
        return lines
    }

    @Test(arguments: 1...13) func `Lines do not depend on chunk boundaries`(size: Int) {
        let bytes = Array("één\n\r\n\u{2028}x\n\nend".utf8)
        let chunks = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        #expect(lines(chunks) == ["één", "\r", "\u{2028}x", "", "end"].map { .complete(Array($0.utf8)) })
    }

    @Test(arguments: [1, 3, 100]) func `Reports overlong lines by their size`(size: Int) {
        let bytes = Array("0123456789\n0123456789A\nB\n0123456789ABCDEF".utf8)
        let chunks = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
        #expect(
            lines(chunks) == [
                .complete(Array("0123456789".utf8)), .overlong(byteCount: 11), .complete(Array("B".utf8)),
                .overlong(byteCount: 16),
            ]
        )
    }

    @Test func `Returns no line for an empty stream or after the last line feed`() {
        #expect(lines([[]]) == [])
        #expect(lines([Array("a\n".utf8)]) == [.complete(Array("a".utf8))])
    }
}
