import DocumentModel
import HTTPTypes
import HearthAPI
import UTF8Text

/// The list of API keys and the form that creates one.
struct KeysPage: Page {
    static let template = TemplateLibrary.Name.keys

    /// The input of the form for a new key.
    struct Input: Sendable {
        var label = ""
        var role = Role.reader
        var collections = ""
        var lifetime = KeyLifetime.unlimited
    }

    var layout = PageLayout(title: localized("Keys"))
    let status: HTTPResponse.Status
    private let action = AdminURL.keys
    private let problemAlert: ProblemAlert?
    private let hasKeys: Bool
    private let keys: [KeyView]
    private let label: FormField
    private let rolesMarkup: Markup
    private let lifetimesMarkup: Markup
    private let collections: FormField
    /// The secret of a key that was just created.
    private let newSecret: String?
    /// True if the server has no keys at all.
    private let isUnprotected: Bool

    init(
        _ keys: [APIKey],
        currentKeyID: UTF8Key?,
        input: Input = Input(),
        problems: FormProblems = FormProblems(),
        newSecret: String? = nil,
        isUnprotected: Bool = false,
        now: Timestamp
    ) {
        self.keys = keys.map { KeyView($0, isCurrent: $0.id == currentKeyID, now: now) }
        hasKeys = !keys.isEmpty
        (self.newSecret, self.isUnprotected) = (newSecret, isUnprotected)
        problemAlert = ProblemAlert(problems)
        label = FormField("label", input.label, problems: problems)
        rolesMarkup = Role.allCases.map { FormOption($0.rawValue, $0.explanation, isSelected: $0 == input.role) }.optionsMarkup
        lifetimesMarkup =
            KeyLifetime.allCases.map { FormOption($0.rawValue, $0.name, isSelected: $0 == input.lifetime) }.optionsMarkup
        collections = FormField("collections", input.collections, problems: problems)
        status = problems.status
    }
}

/// The choices for the lifetime of a new key.
enum KeyLifetime: String, CaseIterable, Sendable {
    case unlimited
    case day = "1"
    case month = "30"
    case quarter = "90"
    case year = "365"

    /// Returns the expiration time of a key created now; `nil` for an unlimited key.
    func expireTime(from now: Timestamp) -> Timestamp? {
        Int64(rawValue).flatMap { try? Timestamp(microseconds: now.microseconds + $0 * 86_400_000_000) }
    }

    var name: String {
        switch self {
        case .unlimited: localized("until revoked")
        case .day: localized("1 day")
        case .month: localized("30 days")
        case .quarter: localized("90 days")
        case .year: localized("1 year")
        }
    }
}

extension Role {
    /// The permissions of the role in the language of the page.
    var explanation: String {
        switch self {
        case .reader: localized("reader: read and watch documents")
        case .writer: localized("writer: also write documents")
        case .admin: localized("admin: full access, including keys and indexes")
        }
    }
}

/// A row of the list of API keys.
struct KeyView: ViewModel {
    private let id: String
    private let isCurrent: Bool
    private let hasLabel: Bool
    private let label: DisplayText
    private let role: String
    private let isUnrestricted: Bool
    private let collections: [DisplayText]
    private let created: RelativeTimeView
    private let lastUsed: RelativeTimeView?
    private let expires: TimeView?
    private let isExpired: Bool

    init(_ key: APIKey, isCurrent: Bool, now: Timestamp) {
        id = key.id.string
        self.isCurrent = isCurrent
        hasLabel = !key.label.utf8.isEmpty
        label = DisplayText(key.label)
        role = key.role.rawValue
        isUnrestricted = key.collections == nil
        collections = (key.collections ?? []).map { DisplayText($0.string) }
        created = RelativeTimeView(key.createTime, now: now)
        lastUsed = key.lastUseTime.map { RelativeTimeView($0, now: now) }
        expires = key.expireTime.map { TimeView($0) }
        isExpired = key.isExpired(at: now)
    }
}

extension APIKey {
    /// Returns whether the key is expired.
    func isExpired(at now: Timestamp) -> Bool {
        expireTime.map { $0 <= now } ?? false
    }
}
