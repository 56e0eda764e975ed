/// An error or a warning about a rules file.
package struct RulesIssue: Hashable, Sendable, CustomStringConvertible {
    /// The severity of an issue.
    package enum Severity: String, Hashable, Sendable {
        /// The file cannot be used.
        case error = "ERROR"
        /// The file can be used, but part of it has no effect or an unintended one.
        case warning = "WARNING"
    }

    /// The severity.
    package let severity: Severity
    /// The position of the text that the issue is about.
    package let position: SourcePosition
    /// The message, as a sentence.
    package let message: String

    /// The position and the message, as `4:20 - ERROR Missing conditional expression after 'if'.`
    package var description: String { "\(position) - \(severity.rawValue) \(message)" }
}

/// The errors of a rules file that does not compile.
package struct RulesError: Error, Hashable, Sendable, CustomStringConvertible {
    /// All issues in the order of the text, with warnings.
    package let issues: [RulesIssue]

    /// The errors, one a line.
    package var description: String {
        issues.filter { $0.severity == .error }.map(\.description).joined(separator: "\n")
    }
}

/// An issue before its position is resolved.
struct Diagnostic: Error, Hashable, Sendable {
    var severity = RulesIssue.Severity.error
    var range: SourceRange
    var message: String

    init(_ message: String, at range: SourceRange, severity: RulesIssue.Severity = .error) {
        self.message = message
        self.range = range
        self.severity = severity
    }
}

/// The issues found in a rules file, limited in number.
struct Diagnostics: Sendable {
    private(set) var all: [Diagnostic] = []
    private(set) var hasErrors = false

    private static let maximumCount = 200

    mutating func append(_ diagnostic: Diagnostic) {
        if diagnostic.severity == .error { hasErrors = true }
        guard all.count < Self.maximumCount || (diagnostic.severity == .error && !all.contains { $0.severity == .error })
        else { return }
        all.append(diagnostic)
    }

    mutating func error(_ message: String, at range: SourceRange) {
        append(Diagnostic(message, at: range))
    }

    mutating func warn(_ message: String, at range: SourceRange) {
        append(Diagnostic(message, at: range, severity: .warning))
    }

    /// Returns the issues in the order of the text.
    func issues(in source: SourceText) -> [RulesIssue] {
        all.sorted { $0.range.start < $1.range.start }.map { diagnostic in
            RulesIssue(
                severity: diagnostic.severity,
                position: source.position(of: diagnostic.range),
                message: diagnostic.message
            )
        }
    }
}
