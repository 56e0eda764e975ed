import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import StrictJSON

/// What is settled for the whole database: indexes, limits, and who is signed in.
struct SettingsPage: Page {
    static let template = TemplateLibrary.Name.settings

    /// What was typed for an index or an exemption.
    struct Typed: Sendable {
        var collection = ""
        var fields = ""
    }

    var chrome = PageChrome(title: localized("Settings"))
    let status: HTTPResponse.Status
    private let indexes: IndexReport?
    private let sessions: [SessionView]
    private let limits: [LimitView]
    private let typed: Typed
    private let problems: FormProblems

    /// - Parameters:
    ///   - indexes: What is indexed; nil for a caller who may not see it.
    ///   - sessions: The sessions that the caller may see.
    ///   - settings: What the server was started with.
    init(
        indexes: IndexReport?,
        sessions: [SessionView],
        limits: [LimitView],
        typed: Typed = Typed(),
        problems: FormProblems = FormProblems()
    ) {
        (self.indexes, self.sessions, self.limits, self.typed, self.problems) = (indexes, sessions, limits, typed, problems)
        status = problems.isEmpty ? .ok : .unprocessableContent
        chrome.refreshes = problems.isEmpty && (indexes?.isChanging ?? false)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "action": AdminURL.settings
        case "showsIndexes": indexes != nil
        case "indexes": (indexes?.indexes ?? []).map { IndexView($0.id, $0.definition, $0.progress) }
        case "hasIndexes": !(indexes?.indexes.isEmpty ?? true)
        case "exemptions": (indexes?.exemptions ?? []).map(ExemptionView.init)
        case "hasExemptions": !(indexes?.exemptions.isEmpty ?? true)
        case "changes": (indexes?.changes ?? []).map { ChangeView(collection: $0.collection, progress: $0.progress) }
        case "collection": FormField("collection", typed.collection, problems: problems)
        case "fields": FormField("fields", typed.fields, problems: problems)
        case "sessions": sessions
        case "hasSessions": !sessions.isEmpty
        case "limits": limits
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: nil
        }
    }
}

extension IndexReport {
    /// Whether something is being made or removed.
    fileprivate var isChanging: Bool {
        !changes.isEmpty || indexes.contains { if case .building = $0.progress { true } else { false } }
    }
}

extension IndexReport.Progress {
    /// How far it is, in the language of the page.
    fileprivate var text: String {
        switch self {
        case .ready: localized("ready")
        case .building(let done, let total?):
            localized("{done} of {total} documents", ["done": Counting.grouped(done), "total": Counting.grouped(total)])
        case .building(let done, nil): localized(count: done, one: "{count} document so far", other: "{count} documents so far")
        case .unavailable: localized("can’t be used")
        }
    }

    /// Why it can't be used.
    fileprivate var obstacle: DisplayText? {
        if case .unavailable(let reason) = self { DisplayText(reason) } else { nil }
    }
}

/// An index of several fields, as a page shows it.
struct IndexView: Sendable {
    private let id: String
    private let definition: IndexDefinition
    private let progress: IndexReport.Progress

    init(_ id: String, _ definition: IndexDefinition, _ progress: IndexReport.Progress) {
        (self.id, self.definition, self.progress) = (id, definition, progress)
    }
}

extension IndexView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "id": id
        case "collection": DisplayText(definition.collection.key.string)
        case "parts": definition.fields.map { DisplayText("\($0.field) \($0.direction == .ascending ? "↑" : "↓")") }
        case "progress": progress.text
        case "obstacle": progress.obstacle.orAbsent
        default: nil
        }
    }
}

/// A field that isn't indexed by itself, as a page shows it.
struct ExemptionView: Sendable {
    let exemption: IndexExemption
}

extension ExemptionView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "collection": DisplayText(exemption.collection.key.string)
        case "field": DisplayText(exemption.field.description)
        case "collectionText": EditedText.line(exemption.collection.key.string)
        case "fieldText": EditedText.line(exemption.field.description)
        default: nil
        }
    }
}

/// A collection whose entries are being made or removed.
struct ChangeView: Sendable {
    let collection: CollectionID
    let progress: IndexReport.Progress
}

extension ChangeView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "collection": DisplayText(collection.key.string)
        case "progress": progress.text
        default: nil
        }
    }
}

/// A session, as a page shows it.
struct SessionView: Sendable {
    private let session: Session
    private let label: DisplayText
    private let isOwn: Bool
    private let now: Timestamp

    init(_ session: Session, keys: [AccessKey], own: Session?, now: Timestamp) {
        (self.session, self.now) = (session, now)
        let key = keys.first { $0.id == session.caller.keyID }
        label = DisplayText(key?.name ?? session.caller.keyID?.string ?? "")
        isOwn = session.name == own?.name
    }
}

extension SessionView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "sessionName": session.name.string
        case "label": label
        case "role": session.caller.role.rawValue
        case "network": DisplayText(session.network.string)
        case "started": DocumentHeader.Moment(session.startTime, now: now)
        case "used": DocumentHeader.Moment(session.lastUseTime, now: now)
        case "isOwn": isOwn
        default: nil
        }
    }
}

/// A limit or another thing that the server was started with.
struct LimitView: Sendable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        (self.name, self.value) = (name, value)
    }
}

extension LimitView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": self.name
        case "value": value
        default: nil
        }
    }
}
