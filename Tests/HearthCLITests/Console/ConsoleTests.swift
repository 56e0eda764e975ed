import DocumentModel
import Synchronization
import Testing
import UTF8Text

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

    @Test func `Writes messages above the progress line, which is redrawn below`() {
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

    @Test func `Limits the rate of progress updates`() {
        let console = screen.console(isTerminal: true)
        for milliseconds in stride(from: 0, to: 250, by: 10) {
            console.showProgress("at \(milliseconds)", at: start + .milliseconds(milliseconds))
        }
        #expect(screen.text.matches(of: /at [0-9]+/).map { String($0.output) } == ["at 0", "at 100", "at 200"])
    }

    @Test func `Without a terminal, progress is a message every 10 seconds`() {
        let console = screen.console(isTerminal: false)
        for seconds in 0..<25 {
            console.showProgress("at \(seconds)", at: start + .seconds(seconds))
            if seconds == 15 { console.endProgress() }
        }
        #expect(screen.text == "hearth: at 10\nhearth: at 20\n")
    }

    @Test func `A short operation shows no progress without a terminal`() {
        let console = screen.console(isTerminal: false)
        console.showProgress("1 document imported")
        console.report("Done.")
        console.endProgress()
        #expect(screen.text == "hearth: Done.\n")
    }

    @Test(arguments: [true, false]) func `Escapes control characters`(isTerminal: Bool) {
        let console = screen.console(isTerminal: isTerminal)
        console.report("a\u{1B}[2J\rb\nc\u{202E}")
        #expect(screen.text == "hearth: a\\u{1B}[2J\\rb\\nc\\u{202E}\n")
    }

    @Test func `Estimates the time left from the share that is done`() {
        let estimate = ProgressEstimate()
        #expect(estimate.text(0, of: 100, at: start) == "")
        #expect(estimate.text(1, of: 0, at: start) == "")
        #expect(estimate.text(5, of: nil, at: start) == "")
        #expect(estimate.text(1, of: 100, at: start) == ", 1 %")
        #expect(estimate.text(25, of: 100, at: start + .seconds(10)) == ", 25 %, 30 s left")
        #expect(estimate.text(50, of: 100, at: start + .seconds(600)) == ", 50 %, 10 min left")
        #expect(estimate.text(1, of: 4, at: start + .seconds(7_200)) == ", 25 %, 6 h 0 min left")
        #expect(estimate.text(120, of: 100, at: start + .seconds(9_000)) == ", 100 %")
    }

    @Test(arguments: [(0, "0 lines"), (1, "1 line"), (2, "2 lines")]) func `Formats counts in the singular or plural`(
        number: Int,
        text: String
    ) {
        #expect(number.counted("line") == text)
    }
}
