import DocumentModel
import Logging

/// An entry of the log, which is written as one line.
///
/// Entries contain names chosen by clients, such as those of databases. Line breaks, control characters and bidirectional formatting
/// characters are escaped in every form.
struct LogEntry {
    let time: Timestamp
    let level: Logger.Level
    let message: String
    /// The fields, sorted by name.
    let fields: [(name: String, value: Logger.MetadataValue)]

    init(time: Timestamp, level: Logger.Level, message: String, metadata: Logger.Metadata) {
        self.time = time
        self.level = level
        self.message = message
        fields = metadata.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    }

    /// Returns the line, with its line feed. ``LogFormat/auto`` is written as text.
    func line(_ format: LogFormat) -> [UInt8] {
        var line: String
        switch format {
        case .text, .auto:
            line = "\(timeText) \(level) \(message.escaped)\(pairs)"
        case .logfmt:
            line = "time=\(timeText) level=\(level) msg=\(message.quotedIfNeeded)\(pairs)"
        case .journald:
            line = "<\(level.syslogPriority)>\(message.escaped)\(pairs)"
        case .json:
            line = #"{"time":"\#(timeText)","level":"\#(level)","message":\#(message.jsonString)"#
            for (name, value) in fields {
                line += ",\((Self.ownNames.contains(name) ? "field.\(name)" : name).jsonString):\(value.json)"
            }
            line += "}"
        }
        line += "\n"
        return Array(line.utf8)
    }

    /// The names that a JSON line has for itself.
    private static let ownNames: Set<String> = ["time", "level", "message"]

    /// The time in UTC with milliseconds.
    private var timeText: String { String(time.rfc3339.prefix(23)) + "Z" }

    /// The fields as ` name=value`.
    private var pairs: String {
        var text = ""
        for (name, value) in fields { text += " \(name.escaped)=\(value.description.quotedIfNeeded)" }
        return text
    }
}

extension Logger.Level {
    /// The priority of syslog.
    var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}

extension Logger.MetadataValue {
    /// The value as JSON: numbers and truth values as such, all else as a string.
    fileprivate var json: String {
        if case .stringConvertible(let value) = self {
            if let number = value as? any BinaryInteger { return "\(number)" }
            if let number = value as? Double, number.isFinite { return "\(number)" }
            if let truth = value as? Bool { return "\(truth)" }
        }
        return description.jsonString
    }
}

extension String {
    /// True if the text has printable ASCII characters only, without a backslash.
    private var isPlain: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != UInt8(ascii: "\\") } }

    fileprivate var escaped: String {
        if isPlain { return self }
        var text = ""
        for scalar in unicodeScalars { text += scalar == "\\" ? "\\\\" : scalar.terminalSafe }
        return text
    }

    /// The text as a value of logfmt: in quotation marks unless it is a simple word.
    fileprivate var quotedIfNeeded: String {
        let isWord = !isEmpty && utf8.allSatisfy { $0 > 0x20 && ![UInt8(ascii: "\""), UInt8(ascii: "=")].contains($0) }
        if isWord { return escaped }
        return "\"" + escaped.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"") + "\""
    }

    fileprivate var jsonString: String {
        if isPlain, !utf8.contains(UInt8(ascii: "\"")) { return "\"\(self)\"" }
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            default:
                if scalar.terminalSafe.utf8.first != UInt8(ascii: "\\") {
                    text.unicodeScalars.append(scalar)
                } else {
                    for unit in String(scalar).utf16 {
                        let digits = String(unit, radix: 16)
                        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                    }
                }
            }
        }
        return text + "\""
    }
}
