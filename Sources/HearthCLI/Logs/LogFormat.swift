import ArgumentParser
import Foundation

/// The form of the log's lines.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    /// ``journald`` if the lines go to the journal, otherwise ``text``.
    case auto
    /// Time, level, message and fields, for people.
    case text
    /// Pairs `name=value` only.
    case logfmt
    /// A JSON object a line.
    case json
    /// Message and fields behind a syslog priority such as `<4>`, as systemd's journal expects them. The journal adds the time.
    case journald

    /// Returns the form with ``auto`` decided.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor that the lines are written to.
    ///   - stream: The value of `JOURNAL_STREAM`: device and inode of the journal's stream, as in `9:1234`.
    func resolved(
        for descriptor: Int32 = STDERR_FILENO,
        stream: String? = ProcessInfo.processInfo.environment["JOURNAL_STREAM"]
    ) -> LogFormat {
        guard self == .auto else { return self }
        var status = stat()
        // The variable is inherited by programs whose output has been redirected.
        guard let stream, fstat(descriptor, &status) == 0, stream == "\(status.st_dev):\(status.st_ino)" else { return .text }
        return .journald
    }
}
