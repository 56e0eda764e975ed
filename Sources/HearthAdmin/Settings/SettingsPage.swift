import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import UTF8Text

/// The settings of the database and the server: indexes, sessions and limits.
struct SettingsPage: Page {
    static let template = TemplateLibrary.Name.settings

    /// The input of the form for an index or exemption.
    struct Input: Sendable {
        var collection = ""
        var fields = ""
    }

    var layout = PageLayout(title: localized("Settings"))
    let status: HTTPResponse.Status
    private let indexes: IndexReport?
    private let sessions: [SessionView]
    private let limits: [LimitView]
    private let input: Input
    private let problems: FormProblems

    /// - Parameters:
    ///   - indexes: The composite indexes and exemptions; nil when the caller may not list them.
    ///   - sessions: The sessions that the caller may see.
    init(
        indexes: IndexReport?,
        sessions: [SessionView],
        limits: [LimitView],
        input: Input = Input(),
        problems: FormProblems = FormProblems()
    ) {
        (self.indexes, self.sessions, self.limits, self.input, self.problems) = (indexes, sessions, limits, input, problems)
        status = problems.isEmpty ? .ok : .unprocessableContent
        layout.refreshes = problems.isEmpty && (indexes?.isChanging ?? false)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "action": AdminURL.settings
        case "showsIndexes": indexes != nil
        case "indexes": (indexes?.indexes ?? []).map { IndexView($0.id, $0.definition, $0.progress) }
        case "hasIndexes": !(indexes?.indexes.isEmpty ?? true)
        case "exemptions": (indexes?.exemptions ?? []).map(ExemptionView.init)
        case "hasExemptions": !(indexes?.exemptions.isEmpty ?? true)
        case "changes": (indexes?.backfills ?? []).map { IndexChangeView(collection: $0.collection, progress: $0.progress) }
        case "collection": FormField("collection", input.collection, problems: problems)
        case "fields": FormField("fields", input.fields, problems: problems)
        case "sessions": sessions
        case "hasSessions": !sessions.isEmpty
        case "limits": limits
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: nil
        }
    }
}

extension IndexReport {
    /// True if index entries are being built or removed.
    fileprivate var isChanging: Bool {
        !backfills.isEmpty || indexes.contains { if case .building = $0.progress { true } else { false } }
    }
}

extension IndexReport.Progress {
    /// The state in the language of the page.
    fileprivate var text: String {
        switch self {
        case .ready: localized("ready")
        case .building(let done, let total?):
            localized("{done} of {total} documents", ["done": NumberFormat.grouped(done), "total": NumberFormat.grouped(total)])
        case .building(let done, nil): localized(count: done, one: "{count} document so far", other: "{count} documents so far")
        case .unavailable: localized("unavailable")
        }
    }

    /// The reason why the index is unavailable.
    fileprivate var unavailableReason: DisplayText? {
        if case .unavailable(let reason) = self { DisplayText(reason) } else { nil }
    }
}

/// A row of the list of composite indexes.
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
        case "indexFields": definition.fields.map { DisplayText("\($0.field) \($0.direction == .ascending ? "↑" : "↓")") }
        case "progress": progress.text
        case "unavailableReason": progress.unavailableReason.orAbsent
        default: nil
        }
    }
}

/// A row of the list of single-field index exemptions.
struct ExemptionView: Sendable {
    let exemption: IndexExemption
}

extension ExemptionView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "collection": DisplayText(exemption.collection.key.string)
        case "field": DisplayText(exemption.field.description)
        case "collectionText": FormTextCoding.encodeLine(exemption.collection.key.string)
        case "fieldText": FormTextCoding.encodeLine(exemption.field.description)
        default: nil
        }
    }
}

/// The progress of building or removing the index entries of a collection.
struct IndexChangeView: Sendable {
    let collection: CollectionID
    let progress: IndexReport.Progress
}

extension IndexChangeView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "collection": DisplayText(collection.key.string)
        case "progress": progress.text
        default: nil
        }
    }
}

/// A row of the list of browser sessions.
struct SessionView: Sendable {
    private let session: Session
    private let label: DisplayText
    private let isCurrent: Bool
    private let now: Timestamp

    init(_ session: Session, keys: [AccessKey], current: Session?, now: Timestamp) {
        (self.session, self.now) = (session, now)
        let key = keys.first { $0.id == session.caller.keyID }
        label = DisplayText(key?.name ?? session.caller.keyID?.string ?? "")
        isCurrent = session.name == current?.name
    }
}

extension SessionView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "sessionName": session.name.string
        case "label": label
        case "role": session.caller.role.rawValue
        case "network": DisplayText(session.network.string)
        case "started": Moment(session.startTime, now: now)
        case "lastUsed": Moment(session.lastUseTime, now: now)
        case "isCurrent": isCurrent
        default: nil
        }
    }
}

/// A configured limit.
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
