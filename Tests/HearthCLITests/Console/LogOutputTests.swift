import Logging
import Synchronization
import Testing

@testable import HearthCLI

@Suite("Log output")
struct LogOutputTests {
    private func logged(_ message: String, _ metadata: Logger.Metadata = [:], of name: String = "p/d") -> [String] {
        let output = Output()
        var logger = Logger(label: "hearth") { label in StreamLogHandler(label: label, stream: LogOutput { output.append($0) }) }
        logger[metadataKey: "database.id"] = .string(name)
        logger.notice("\(message)", metadata: metadata)
        return output.lines
    }

    private final class Output: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        func append(_ more: [UInt8]) { bytes.withLock { $0 += more } }

        /// The lines, split at line feeds.
        var lines: [String] {
            bytes.withLock { $0.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }

    @Test
    func `An entry is written as one line with a trailing line feed`() {
        let lines = logged("Something was done", ["document.path": "books/Ünïcode \\ \"quoted\" 日本 😀"])
        #expect(lines.count == 2 && lines.last?.isEmpty == true)
        let end = #"hearth: database.id=p/d document.path=books/Ünïcode \\ "quoted" 日本 😀 [HearthCLITests] Something was done"#
        #expect(lines.first?.hasSuffix(end) == true, "\(lines)")
    }

    @Test
    func `Line breaks and control characters in names are escaped`() {
        let name =
            "x\r\n2026-11-22T00:00:00+0000 critical hearth: made up\u{1b}[31m\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}\u{0}"
        for lines in [
            logged(name), logged("m", ["a": .string(name)]), logged("m", ["a": ["b": .array([.string(name)])]]),
            logged("m", of: name),
        ] {
            #expect(lines.count == 2, "\(lines)")
            #expect(
                lines.joined().unicodeScalars.allSatisfy {
                    $0 >= " " && !"\u{7f}\u{85}\u{9b}\u{2028}\u{2029}\u{202e}".unicodeScalars.contains($0)
                }
            )
            #expect(lines.first?.contains(#"2026-11-22T00:00:00+0000 critical hearth: made up"#) == true)
        }
    }
}
