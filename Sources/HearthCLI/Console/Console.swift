import DocumentModel
import Foundation
import Synchronization

/// Messages and a progress line on standard error.
///
/// The progress line is written to terminals only. It is cleared before a message and redrawn below it. The caller that shows
/// progress ends it with ``endProgress()``.
final class Console: Sendable {
    /// Standard error.
    static let standardError = Console(isTerminal: isatty(STDERR_FILENO) == 1) { text in
        // Ignores a closed standard error.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private let isTerminal: Bool
    private let write: @Sendable (String) -> Void
    private let progress = Mutex<Progress?>(nil)

    private struct Progress {
        let line: String
        let time: ContinuousClock.Instant
    }

    /// The minimum time between two updates of the progress line.
    private static let interval = Duration.milliseconds(100)
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

    /// Updates the progress line, unless the last update was less than 100 ms ago.
    func showProgress(_ state: @autoclosure () -> String, at now: ContinuousClock.Instant = .now) {
        guard isTerminal else { return }
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

extension Int {
    /// Returns the number with a noun in the singular or plural: `1 line`, `2 lines`.
    func counted(_ singular: String) -> String {
        "\(self) \(singular)\(self == 1 ? "" : "s")"
    }
}
