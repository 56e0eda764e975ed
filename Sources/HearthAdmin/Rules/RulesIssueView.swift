import Cryptography
import SecurityRules
import UTF8Text

/// An error or a warning of the compiler, with a link to its line.
struct RulesIssueView: ViewModel {
    private let lineURL: String
    private let position: String
    private let isError: Bool
    private let message: DisplayText

    /// - Parameter prefix: The prefix of the `id` of the listing's lines.
    init(_ issue: RulesIssue, prefix: StaticString) {
        lineURL = RulesListing.url(ofLine: issue.position.line, prefix: prefix)
        position = issue.position.description
        isError = issue.severity == .error
        message = DisplayText(issue.message)
    }
}

/// Rules as the compiler sees them: its errors and warnings, listed and at their lines.
struct RulesCheckView: ViewModel {
    private let hasErrors: Bool
    private let hasIssues: Bool
    private let issues: [RulesIssueView]
    private let listing: RulesListing

    init(_ check: RulesCheck, prefix: StaticString, label: String) {
        hasErrors = check.ruleset == nil
        hasIssues = !check.issues.isEmpty
        issues = check.issues.map { RulesIssueView($0, prefix: prefix) }
        listing = RulesListing(check.source, prefix: prefix, label: label, annotations: check.issues.annotations)
    }
}

/// The result of compiling a text.
struct RulesCheck: Sendable {
    let source: RulesSource
    /// The compiled rules; `nil` if there are errors.
    let ruleset: Ruleset?
    /// The errors and warnings.
    let issues: [RulesIssue]

    init(_ text: String) {
        source = RulesSource(text)
        do throws(RulesError) {
            let ruleset = try Ruleset(text)
            self.ruleset = ruleset
            issues = ruleset.warnings
        } catch {
            ruleset = nil
            issues = error.issues
        }
    }

    /// A digest of the rules and their warnings, which a user confirms before they are deployed; `nil` without warnings, or with errors.
    var warningDigest: String? {
        guard ruleset != nil, !issues.isEmpty else { return nil }
        let text = ([source.text] + issues.map(\.description)).joined(separator: "\n")
        return Hexadecimal.encode(SHA256.digest(of: Array(text.utf8)).prefix(8))
    }

    /// The first error.
    var firstError: RulesIssue? { issues.first { $0.severity == .error } }
}
