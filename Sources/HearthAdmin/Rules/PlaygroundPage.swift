import DocumentModel
import HTTPTypes
import HearthAPI
import SecurityRules
import UTF8Text

/// The playground of security rules: a form for a hypothetical request, and the decision about it.
struct PlaygroundPage: Page {
    static let template = TemplateLibrary.Name.rulesPlayground

    var layout = PageLayout(title: localized("Playground"), section: .rules)
    let status: HTTPResponse.Status
    private let viewsMarkup = RulesView.playground.linksMarkup
    private let problemAlert: ProblemAlert?
    private let action = AdminURL.rulesPlayground
    private let rulesURL = AdminURL.rules
    private let methodsMarkup: Markup
    private let path: FormField
    private let signedIn: FormField
    private let uid: FormField
    private let claims: FormField
    private let data: FormField
    private let keep: FormField
    private let query: FormField
    private let rules: FormField
    private let base: String
    /// True if the rules of the form are those that decide now.
    private let areActive: Bool
    /// The errors of the rules; `nil` if they compile.
    private let check: RulesCheckView?
    private let verdict: VerdictView?

    init(
        _ input: PlaygroundInput,
        active: ActiveRules?,
        check: RulesCheck? = nil,
        run: PlaygroundRun? = nil,
        problems: FormProblems = FormProblems()
    ) {
        status = problems.status
        problemAlert = ProblemAlert(problems)
        methodsMarkup =
            RequestMethod.allCases
            .map { FormOption($0.rawValue, $0.rawValue, isSelected: $0 == input.method) }.optionsMarkup
        path = FormField("path", input.path, problems: problems)
        signedIn = FormField("signed-in", "1", isChecked: input.isSignedIn)
        uid = FormField("uid", input.uid, problems: problems)
        claims = FormField("claims", input.claims, problems: problems)
        data = FormField("data", input.data, problems: problems)
        keep = FormField("keep", "1", isChecked: input.keepsFields)
        query = FormField("query", input.query, problems: problems)
        rules = FormField("rules", input.rules, problems: problems)
        base = input.base?.string ?? ""
        areActive = active.map { $0.text.utf8.elementsEqual(input.rules.utf8) } ?? false
        self.check = check.flatMap { check in
            check.ruleset == nil ? RulesCheckView(check, prefix: "C", label: localized("Checked rules")) : nil
        }
        verdict = run.map { VerdictView($0, RulesSource(input.rules)) }
    }
}

/// The decision about a request: the statements that made it, the documents read for it, and the values of expressions.
struct VerdictView: ViewModel {
    /// A statement that granted, or did not.
    struct Statement: ViewModel {
        let line: Int
        let lineURL: String
        let grants: Bool
        /// The error of the condition; `nil` if the condition is false.
        let error: DisplayText?
        let errorPosition: String?
    }

    /// A document that rules have read.
    struct ReadDocument: ViewModel {
        let url: String
        let path: DisplayText
        let exists: Bool
        let isAfterCommit: Bool
    }

    private let isAllowed: Bool
    private let statements: [Statement]
    private let hasStatements: Bool
    private let isQuery: Bool
    /// The reason in the words of Firestore's emulator; `nil` if the request is allowed.
    private let explanation: DisplayText?
    private let hasReads: Bool
    private let reads: [ReadDocument]
    private let hasDebugOutput: Bool
    private let debugOutput: [DisplayText]
    private let expressions: String
    private let valueNote: String?
    private let listing: RulesListing

    private static let prefix: StaticString = "P"
    private static let maximumValues = 500

    init(_ run: PlaygroundRun, _ source: RulesSource) {
        let decision = run.decision
        isAllowed = decision.isAllowed
        isQuery = decision.method == .list
        let denied = (decision.denials ?? []).map { denial in
            Statement(
                line: denial.statement.line,
                lineURL: RulesListing.url(ofLine: denial.statement.line, prefix: Self.prefix),
                grants: false,
                error: denial.error.map { DisplayText($0.message) },
                errorPosition: denial.error.map { $0.position.description }
            )
        }
        let granted = decision.isAllowed ? decision.grants : []
        statements =
            denied
            + granted.map { position in
                Statement(
                    line: position.line,
                    lineURL: RulesListing.url(ofLine: position.line, prefix: Self.prefix),
                    grants: true,
                    error: nil,
                    errorPosition: nil
                )
            }
        hasStatements = !statements.isEmpty
        let reason = decision.explanation.utf8.drop { $0 == UInt8(ascii: "\n") }
        explanation = decision.isAllowed ? nil : DisplayText(String(Substring(reason)))
        reads = run.accesses.map { read in
            ReadDocument(
                url: AdminURL.document(read.access.path),
                path: DisplayText(read.access.path.string),
                exists: read.exists,
                isAfterCommit: read.access.isAfterCommit
            )
        }
        hasReads = !reads.isEmpty
        debugOutput = run.debugOutput.map { DisplayText(truncating: $0, toScalars: 2_000) }
        hasDebugOutput = !debugOutput.isEmpty
        expressions = localized(
            count: decision.expressionCount,
            one: "{count} expression was evaluated.",
            other: "{count} expressions were evaluated."
        )
        let values = Self.relevantValues(run, source)
        valueNote = TruncatedList<String>.omissionNote(shown: min(values.count, Self.maximumValues), of: values.count)
        var annotations: [Int: [RulesListing.Annotation]] = [:]
        for (report, depth) in values.prefix(Self.maximumValues) {
            let texts = report.values.map { $0.count > 1 ? "\($0.text) ×\($0.count)" : $0.text }
            annotations[report.position.line, default: []].append(
                .value(
                    DisplayText(truncating: texts.joined(separator: ", "), toScalars: 1_000),
                    expression: source.excerpt(at: report.position, toScalars: 80),
                    depth: depth
                )
            )
        }
        var highlights: [Int: RulesListing.Highlight] = [:]
        for statement in statements { highlights[statement.line] = statement.grants ? .granted : .denied }
        listing = RulesListing(
            source,
            prefix: Self.prefix,
            label: localized("Rules with values"),
            annotations: annotations,
            highlights: highlights
        )
    }

    /// Returns the values without those of the parts of member accesses, such as `request.auth` in `request.auth.uid`, unless one
    /// of them has failed.
    private static func relevantValues(
        _ run: PlaygroundRun,
        _ source: RulesSource
    ) -> [(report: RulesCoverage.Report, depth: Int)] {
        let failures = (run.decision.denials ?? []).compactMap { $0.error?.position.offset }
        var skippedDepth = Int.max
        return run.values.filter { report, depth in
            guard depth <= skippedDepth else { return false }
            let range = report.position.offset...report.position.endOffset
            let isSkipped = source.isMemberAccess(at: report.position) && !failures.contains(where: range.contains)
            skippedDepth = isSkipped ? depth : .max
            return true
        }
    }
}
