import DocumentModel
import HTTPTypes
import HearthService
import StrictJSON

/// The keys: who may call, with a form for another.
struct KeysPage: Page {
    static let template = TemplateLibrary.Name.keys

    /// What was typed for a new key.
    struct Typed: Sendable {
        var label = ""
        var role = Role.reader
        var collections = ""
        var expiry = KeyLifetime.unlimited
    }

    var chrome = PageChrome(title: localized("Keys"))
    let status: HTTPResponse.Status
    private let keys: [KeyView]
    private let typed: Typed
    private let problems: FormProblems
    /// The text of a key that was just made.
    private let made: String?
    private let isOpen: Bool

    init(
        _ keys: [AccessKey],
        own: UTF8Key?,
        typed: Typed = Typed(),
        problems: FormProblems = FormProblems(),
        made: String? = nil,
        isOpen: Bool = false,
        now: Timestamp
    ) {
        self.keys = keys.map { KeyView($0, isOwn: $0.id == own, now: now) }
        (self.typed, self.problems, self.made, self.isOpen) = (typed, problems, made, isOpen)
        status = problems.isEmpty ? .ok : .unprocessableContent
    }

    func content(named name: String) -> Any? {
        switch name {
        case "keys": keys
        case "hasKeys": !keys.isEmpty
        case "hasNoKeysAtAll": isOpen
        case "made": made.orAbsent
        case "action": AdminURL.keys
        case "label": FormField("label", typed.label, problems: problems)
        case "collections": FormField("collections", typed.collections, problems: problems)
        case "rolesMarkup": Role.allCases.map { Option($0.rawValue, $0.explanation, isCurrent: $0 == typed.role) }.listMarkup
        case "lifetimesMarkup":
            KeyLifetime.allCases.map { Option($0.rawValue, $0.name, isCurrent: $0 == typed.expiry) }.listMarkup
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: nil
        }
    }
}

/// For how long a key is made.
enum KeyLifetime: String, CaseIterable, Sendable {
    case unlimited
    case day = "1"
    case month = "30"
    case quarter = "90"
    case year = "365"

    /// When a key of it expires.
    func end(from now: Timestamp) -> Timestamp? {
        Int64(rawValue).flatMap { try? Timestamp(microseconds: now.microseconds + $0 * 86_400_000_000) }
    }

    var name: String {
        switch self {
        case .unlimited: localized("until it is revoked")
        case .day: localized("for a day")
        case .month: localized("for 30 days")
        case .quarter: localized("for 90 days")
        case .year: localized("for a year")
        }
    }
}

extension Role {
    /// What the role may do, in the language of the page.
    var explanation: String {
        switch self {
        case .reader: localized("reader: read and watch")
        case .writer: localized("writer: write documents too")
        case .admin: localized("admin: everything, keys and indexes too")
        }
    }
}

/// A key, as a page shows it.
struct KeyView: Sendable {
    private let key: AccessKey
    private let isOwn: Bool
    private let now: Timestamp

    init(_ key: AccessKey, isOwn: Bool, now: Timestamp) {
        (self.key, self.isOwn, self.now) = (key, isOwn, now)
    }
}

extension KeyView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "id": key.id.string
        case "label": DisplayText(key.label)
        case "hasLabel": !key.label.utf8.isEmpty
        case "role": key.role.rawValue
        case "isOwn": isOwn
        case "scope": key.collections?.map { DisplayText($0.string) } ?? []
        case "isForAll": key.collections == nil
        case "created": DocumentHeader.Moment(key.createTime, now: now)
        case "used": key.lastUseTime.map { DocumentHeader.Moment($0, now: now) }.orAbsent
        case "expires": key.expireTime.map { TimeView($0) }.orAbsent
        case "isExpired": key.expireTime.map { $0 <= now } ?? false
        default: nil
        }
    }
}
