import DocumentModel
import HearthAPI
import UTF8Text

/// An earlier version of a database's rules, compared with the active one.
struct RulesVersionPage: Page {
    static let template = TemplateLibrary.Name.rulesVersion

    var layout: PageLayout
    private let rulesVersion: String
    private let replaced: RelativeTimeView?
    private let hasActive: Bool
    private let isActive: Bool
    private let diff: RulesDiffView
    private let listing: RulesListing
    private let action = AdminURL.rules
    /// The version of the database's own file, which the version would replace.
    private let base: String

    /// - Parameters:
    ///   - version: The version.
    ///   - text: Its text.
    init(_ version: UTF8Key, _ text: String, _ state: RulesState, now: Timestamp) {
        let earlier = state.history?.versions.first { $0.version == version }
        layout = PageLayout(title: localized("Rules"), section: .rules)
        rulesVersion = version.string
        replaced = earlier.map { RelativeTimeView($0.replaceTime, now: now) }
        hasActive = state.active != nil
        isActive = state.active?.version == version
        diff = RulesDiffView(from: state.active?.text ?? "", to: text)
        listing = RulesListing(RulesSource(text), prefix: "V", label: localized("Rules"))
        base = state.stored.version?.string ?? ""
    }
}
