import DocumentModel
import HTTPTypes
import HearthAPI
import SecurityRules
import UTF8Text

/// The security rules of a database: the active ones, the requests that they denied, an editor, and the earlier versions.
struct RulesPage: Page {
    static let template = TemplateLibrary.Name.rules

    var layout = PageLayout(title: localized("Rules"), section: .rules)
    let status: HTTPResponse.Status
    private let viewsMarkup = RulesView.rules.linksMarkup
    private let problemAlert: ProblemAlert?
    private let fileProblem: RulesFileProblem?
    private let active: ActiveRulesView?
    private let isEmpty: Bool
    private let hasDenials: Bool
    private let denials: [RulesDenialView]
    private let hasVersions: Bool
    private let versions: [RulesVersionView]
    private let historyProblem: DisplayText?
    private let editor: RulesEditor
    /// True if the editor has input, and so precedes the active rules.
    private let isEditing: Bool

    init(
        _ state: RulesState,
        input: RulesInput? = nil,
        conflict: RulesDiffView? = nil,
        problems: FormProblems = FormProblems(),
        now: Timestamp
    ) {
        status = problems.isEmpty && conflict == nil ? .ok : conflict == nil ? .unprocessableContent : .conflict
        problemAlert = ProblemAlert(problems)
        fileProblem = state.problem.map { RulesFileProblem($0, text: state.stored.text, hasActive: state.active != nil) }
        denials = state.currentDenials.map { RulesDenialView($0, now: now) }
        hasDenials = !denials.isEmpty
        active = state.active.map { ActiveRulesView($0, denials: state.currentDenials, now: now) }
        isEmpty = state.active == nil && state.problem == nil
        versions = (state.history?.versions ?? []).map { RulesVersionView($0, now: now) }
        hasVersions = !versions.isEmpty
        historyProblem = state.historyProblem.map { DisplayText($0.message) }
        editor = RulesEditor(input ?? RulesInput(state), conflict: conflict, locksOut: state.locksOut, problems: problems)
        isEditing = input != nil
    }
}

/// The rules of a database, as its page shows them.
struct RulesState: Sendable {
    let active: ActiveRules?
    /// The contents of the database's own file.
    let stored: StoredRules
    /// The error of the database's own file if its rules could not be used.
    let problem: StatusError?
    let denials: RulesDenials
    /// The earlier versions; `nil` if they cannot be read.
    let history: RulesHistory?
    let historyProblem: StatusError?
    /// True if the first rules would make the server require keys, of which there are none.
    let locksOut: Bool

    /// The denials by the active rules, most frequent first.
    var currentDenials: [RulesDenials.Denied] {
        denials.version == active?.version ? denials.mostFrequentFirst : []
    }
}

/// The input of the editor.
struct RulesInput: Sendable {
    let text: String
    /// The version of the database's own file that was edited; `nil` for no file.
    var base: UTF8Key?
    /// The compiled text, if it has been checked.
    var check: RulesCheck?
    /// True if the user has confirmed that the server may require keys.
    private(set) var confirmsLockout = false
    /// The digest of the warnings that the user has confirmed.
    private(set) var confirmedWarnings: UTF8Key?

    init(text: String, base: UTF8Key?, check: RulesCheck? = nil) {
        (self.text, self.base, self.check) = (text, base, check)
    }

    /// Creates the input to begin with: the database's own rules, those that decide instead, or an example.
    init(_ state: RulesState) {
        self.init(text: state.stored.text ?? state.active?.text ?? StarterRules.text, base: state.stored.version)
    }

    /// Reads the input of a form.
    init(_ form: Form) {
        let base = form["base"].flatMap { $0.utf8.isEmpty ? nil : $0 }
        self.init(text: form["rules"]?.string ?? "", base: base)
        confirmsLockout = form.has("confirm")
        confirmedWarnings = form["warnings"]
    }

    /// True if the checked text has no warnings, or the user has confirmed them.
    var confirmsWarnings: Bool {
        guard let digest = check?.warningDigest else { return true }
        return confirmedWarnings == UTF8Key(digest)
    }
}

/// The view of the rules: the page itself, or the playground.
enum RulesView: CaseIterable {
    case rules
    case playground

    /// The links between the views.
    var linksMarkup: Markup {
        [
            LinkOption(text: localized("Rules"), url: AdminURL.rules, isCurrent: self == .rules),
            LinkOption(text: localized("Playground"), url: AdminURL.rulesPlayground, isCurrent: self == .playground),
        ]
        .itemsMarkup(current: "page")
    }
}

/// The rules file of a database that cannot be used.
struct RulesFileProblem: ViewModel {
    /// The error; `nil` if the file does not compile.
    private let message: DisplayText?
    private let check: RulesCheckView?
    private let hasActive: Bool

    /// - Parameters:
    ///   - text: The text of the file, if it is text.
    ///   - hasActive: True if earlier rules decide.
    init(_ error: StatusError, text: String?, hasActive: Bool) {
        self.hasActive = hasActive
        let check = text.map { RulesCheck($0) }
        // Without errors, the file has been mended a moment ago.
        let isBroken = check.map { $0.ruleset == nil } ?? false
        message = isBroken ? nil : DisplayText(error.message)
        self.check = isBroken ? check.map { RulesCheckView($0, prefix: "F", label: "firestore.rules") } : nil
    }
}

/// The rules that decide now.
struct ActiveRulesView: ViewModel {
    private let rulesVersion: String
    private let source: String
    private let since: RelativeTimeView
    private let hasIssues: Bool
    private let issues: [RulesIssueView]
    private let listing: RulesListing
    private let isOfServer: Bool
    private let isOfEmulator: Bool

    init(_ rules: ActiveRules, denials: [RulesDenials.Denied], now: Timestamp) {
        rulesVersion = rules.version.string
        source =
            switch rules.source {
            case .database: localized("the database’s file firestore.rules")
            case .server: localized("the server’s file (--rules)")
            case .emulator: localized("a test program")
            }
        isOfServer = rules.source == .server
        isOfEmulator = rules.source == .emulator
        since = RelativeTimeView(rules.activationTime, now: now)
        let warnings = rules.ruleset.warnings
        issues = warnings.map { RulesIssueView($0, prefix: "L") }
        hasIssues = !issues.isEmpty
        var annotations = warnings.annotations
        var counts: [Int: Int] = [:]
        for denial in denials { if let line = denial.reason.line { counts[line, default: 0] += denial.count } }
        for (line, count) in counts { annotations[line, default: []].append(.denials(count)) }
        listing = RulesListing(
            RulesSource(rules.text),
            prefix: "L",
            label: localized("Active rules"),
            annotations: annotations
        )
    }
}

/// A row of the table of denied requests.
struct RulesDenialView: ViewModel {
    private let method: String
    private let line: Int?
    private let lineURL: String
    private let denialCount: String
    private let last: RelativeTimeView

    init(_ denied: RulesDenials.Denied, now: Timestamp) {
        let reason = denied.reason
        method = reason.method.rawValue
        line = reason.line
        lineURL = RulesListing.url(ofLine: reason.line ?? 0, prefix: "L")
        denialCount = NumberFormat.grouped(denied.count)
        last = RelativeTimeView(denied.lastTime, now: now)
    }
}

/// A row of the table of earlier versions.
struct RulesVersionView: ViewModel {
    private let rulesVersion: String
    private let versionURL: String
    private let replaced: RelativeTimeView
    private let size: String

    init(_ version: RulesHistory.Version, now: Timestamp) {
        rulesVersion = version.version.string
        versionURL = AdminURL.rules(ofVersion: version.version)
        replaced = RelativeTimeView(version.replaceTime, now: now)
        size = ByteSize.text(version.text.utf8.count)
    }
}

/// The form that changes the rules.
struct RulesEditor: ViewModel {
    private let action = AdminURL.rules
    private let playgroundURL = AdminURL.rulesPlayground
    private let rules: FormField
    private let base: String
    private let check: RulesCheckView?
    /// The value that confirms the warnings; `nil` if there are none.
    private let warningDigest: String?
    private let conflict: RulesDiffView?
    private let errorLine: Int?
    private let errorColumn: Int?
    private let confirmsWarnings: Bool
    private let locksOut: Bool
    private let confirmsLockout: Bool

    init(_ input: RulesInput, conflict: RulesDiffView?, locksOut: Bool, problems: FormProblems) {
        rules = FormField("rules", input.text, problems: problems)
        base = input.base?.string ?? ""
        warningDigest = input.check?.warningDigest
        check = input.check.map { RulesCheckView($0, prefix: "C", label: localized("Checked rules")) }
        self.conflict = conflict
        errorLine = input.check?.firstError?.position.line
        errorColumn = input.check?.firstError?.position.column
        confirmsWarnings = input.confirmsWarnings
        self.locksOut = locksOut
        confirmsLockout = input.confirmsLockout
    }
}
