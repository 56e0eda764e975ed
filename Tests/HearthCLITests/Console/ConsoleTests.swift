import DocumentModel
import Synchronization
import Testing

@testable import HearthCLI

@Suite("Console")
struct ConsoleTests {
    private final class Screen: Sendable {
        private let written = Mutex("")
        var text: String { written.withLock { $0 } }

        func console(isTerminal: Bool) -> Console {
            Console(isTerminal: isTerminal) { text in self.written.withLock { $0 += text } }
        }
    }

    private let screen = Screen()
    private let start = ContinuousClock.now

    @Test func `writes messages above the progress line, which is redrawn below`() {
        let console = screen.console(isTerminal: true)
        console.showProgress("1 document imported")
        console.report("in.ndjson:2: not JSON")
        console.endProgress()
        console.report("1 line was not imported.")
        let line = "\u{1B}[?7l1 document imported\u{1B}[?7h"
        let clear = "\r\u{1B}[K"
        #expect(
            screen.text
                == "\(clear)\(line)\(clear)hearth: in.ndjson:2: not JSON\n\(line)\(clear)hearth: 1 line was not imported.\n"
        )
    }

    @Test func `limits the rate of progress updates`() {
        let console = screen.console(isTerminal: true)
        for milliseconds in stride(from: 0, to: 250, by: 10) {
            console.showProgress("at \(milliseconds)", at: start + .milliseconds(milliseconds))
        }
        #expect(screen.text.matches(of: /at [0-9]+/).map { String($0.output) } == ["at 0", "at 100", "at 200"])
    }

    @Test func `shows no progress without a terminal`() {
        let console = screen.console(isTerminal: false)
        console.showProgress("1 document imported")
        console.report("Done.")
        console.endProgress()
        #expect(screen.text == "hearth: Done.\n")
    }

    @Test(arguments: [true, false]) func `escapes control characters`(isTerminal: Bool) {
        let console = screen.console(isTerminal: isTerminal)
        console.report("a\u{1B}[2J\rb\nc\u{202E}")
        #expect(screen.text == "hearth: a\\u{1B}[2J\\rb\\nc\\u{202E}\n")
    }

    @Test(arguments: [(0, "0 lines"), (1, "1 line"), (2, "2 lines")]) func `formats counts in the singular or plural`(
        number: Int,
        text: String
    ) {
        #expect(number.counted("line") == text)
    }
}
