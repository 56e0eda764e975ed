import DocumentModel
import Foundation
import Synchronization

/// Messages and a progress line on standard error.
///
/// On a terminal the progress line is cleared before a message and redrawn below it. Elsewhere it is a message every 10 s. The
/// caller that shows progress ends it with ``endProgress()``.
final class Console: Sendable {
    /// Standard error.
    static let standardError = Console(isTerminal: isatty(STDERR_FILENO) == 1) { text in
        // Standard error may be closed.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private let isTerminal: Bool
    private let write: @Sendable (String) -> Void
    private let progress = Mutex<Progress?>(nil)
    /// The time of the next progress message without a terminal; `nil` before the first progress.
    private let nextMessageTime = Mutex<ContinuousClock.Instant?>(nil)

    private struct Progress {
        let line: String
        let time: ContinuousClock.Instant
    }

    /// The minimum time between two updates of the progress line.
    private static let interval = Duration.milliseconds(100)
    /// The time between two progress messages without a terminal.
    private static let messageInterval = Duration.seconds(10)
    private static let clearLine = "\r\u{1B}[K"

    /// Creates a console that writes with `write`.
    init(isTerminal: Bool, _ write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Writes a message on one line, prefixed with the program's name.
    ///
    /// Control characters, which can come from a server or a file, are escaped.
    func report(_ text: String) {
        progress.withLock { progress in
            let message = "hearth: \(Self.terminalSafe(text))\n"
            if let progress {
                write(Self.clearLine + message + progress.line)
            } else {
                write(message)
            }
        }
    }

    /// Writes an error message.
    func report(_ error: StatusError) {
        report("\(error)")
    }

    /// Updates the progress line, unless the last update was less than 100 ms ago. Without a terminal, writes a message every
    /// 10 s, for the first time 10 s after the first call.
    func showProgress(_ state: @autoclosure () -> String, at now: ContinuousClock.Instant = .now) {
        guard isTerminal else {
            let isDue = nextMessageTime.withLock { next in
                if let next, now < next { return false }
                defer { next = now + Self.messageInterval }
                return next != nil
            }
            if isDue { report(state()) }
            return
        }
        progress.withLock { progress in
            if let progress, now - progress.time < Self.interval { return }
            // Disables line wrapping: a wrapped line could not be cleared.
            let line = "\u{1B}[?7l\(Self.terminalSafe(state()))\u{1B}[?7h"
            progress = Progress(line: line, time: now)
            write(Self.clearLine + line)
        }
    }

    /// Clears the progress line.
    func endProgress() {
        progress.withLock { progress in
            guard progress != nil else { return }
            progress = nil
            write(Self.clearLine)
        }
    }

    private static func terminalSafe(_ text: String) -> String {
        text.unicodeScalars.map(\.terminalSafe).joined()
    }
}
