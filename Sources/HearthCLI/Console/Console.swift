import DocumentModel
import Foundation
import Synchronization

/// What a person is told beside the result: messages, and below them a line that says how far long work is.
///
/// Only a terminal gets the line. It is taken away before a message and drawn again after it, so that the two don't tread on
/// each other; whoever shows it ends it with ``endProgress()``.
final class Console: Sendable {
    /// Standard error.
    static let standardError = Console(isTerminal: isatty(STDERR_FILENO) == 1) { text in
        // Where nobody listens there is nobody to tell.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private let isTerminal: Bool
    private let write: @Sendable (String) -> Void
    private let progress = Mutex<Progress?>(nil)

    private struct Progress {
        let line: String
        let time: ContinuousClock.Instant
    }

    /// Not more often than somebody can read.
    private static let interval = Duration.milliseconds(100)
    private static let clearedLine = "\r\u{1B}[K"

    /// Makes a console that writes with `write`.
    init(isTerminal: Bool, _ write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.write = write
    }

    /// Says one thing, with the program's name before it.
    ///
    /// It stays on its line and can't move the cursor, whatever a server or file has put into it.
    func report(_ text: String) {
        progress.withLock { progress in
            let message = "hearth: \(Self.visible(text))\n"
            if let progress {
                write(Self.clearedLine + message + progress.line)
            } else {
                write(message)
            }
        }
    }

    /// Says what went wrong and where.
    func report(_ error: StatusError) {
        report("\(error)")
    }

    /// Shows how far the work is; a state that follows too soon on the one before is passed over.
    func showProgress(_ state: @autoclosure () -> String, at now: ContinuousClock.Instant = .now) {
        guard isTerminal else { return }
        progress.withLock { progress in
            if let progress, now - progress.time < Self.interval { return }
            // Without wrapping, so that a long line stays one that can be cleared.
            let line = "\u{1B}[?7l\(Self.visible(state()))\u{1B}[?7h"
            progress = Progress(line: line, time: now)
            write(Self.clearedLine + line)
        }
    }

    /// Takes the line away.
    func endProgress() {
        progress.withLock { progress in
            guard progress != nil else { return }
            progress = nil
            write(Self.clearedLine)
        }
    }

    private static func visible(_ text: String) -> String {
        text.unicodeScalars.map(\.visible).joined()
    }
}
