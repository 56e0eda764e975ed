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
    private let keys: [KeyView]
    private let input: Input
    private let problems: FormProblems
    /// The secret of a key that was just created.
    private let newSecret: String?
    /// True if the server has no keys at all.
    private let isUnprotected: Bool

    init(
        _ keys: [AccessKey],
        currentKeyID: UTF8Key?,
        input: Input = Input(),
        problems: FormProblems = FormProblems(),
        newSecret: String? = nil,
        isUnprotected: Bool = false,
        now: Timestamp
    ) {
        self.keys = keys.map { KeyView($0, isCurrent: $0.id == currentKeyID, now: now) }
        (self.input, self.problems, self.newSecret, self.isUnprotected) = (input, problems, newSecret, isUnprotected)
        status = problems.isEmpty ? .ok : .unprocessableContent
    }

    func content(named name: String) -> Any? {
        switch name {
        case "keys": keys
        case "hasKeys": !keys.isEmpty
        case "isUnprotected": isUnprotected
        case "newSecret": newSecret.orAbsent
        case "action": AdminURL.keys
        case "label": FormField("label", input.label, problems: problems)
        case "collections": FormField("collections", input.collections, problems: problems)
        case "rolesMarkup":
            Role.allCases.map { FormOption($0.rawValue, $0.explanation, isSelected: $0 == input.role) }.optionsMarkup
        case "lifetimesMarkup":
            KeyLifetime.allCases.map { FormOption($0.rawValue, $0.name, isSelected: $0 == input.lifetime) }.optionsMarkup
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: nil
        }
    }
}

/// The choices for the lifetime of a new key.
enum KeyLifetime: String, CaseIterable, Sendable {
    case unlimited
    case day = "1"
    case month = "30"
    case quarter = "90"
    case year = "365"

    /// Returns the expiry of a key created now; nil for an unlimited key.
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
struct KeyView: Sendable {
    private let key: AccessKey
    private let isCurrent: Bool
    private let now: Timestamp

    init(_ key: AccessKey, isCurrent: Bool, now: Timestamp) {
        (self.key, self.isCurrent, self.now) = (key, isCurrent, now)
    }
}

extension KeyView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "id": key.id.string
        case "label": DisplayText(key.label)
        case "hasLabel": !key.label.utf8.isEmpty
        case "role": key.role.rawValue
        case "isCurrent": isCurrent
        case "collections": key.collections?.map { DisplayText($0.string) } ?? []
        case "isUnrestricted": key.collections == nil
        case "created": Moment(key.createTime, now: now)
        case "lastUsed": key.lastUseTime.map { Moment($0, now: now) }.orAbsent
        case "expires": key.expireTime.map { TimeView($0) }.orAbsent
        case "isExpired": key.expireTime.map { $0 <= now } ?? false
        default: nil
        }
    }
}
