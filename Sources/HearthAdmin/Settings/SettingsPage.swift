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
    private let action = AdminURL.settings
    private let problemAlert: ProblemAlert?
    private let showsIndexes: Bool
    private let hasIndexes: Bool
    private let indexes: [IndexView]
    private let hasExemptions: Bool
    private let exemptions: [ExemptionView]
    private let changes: [IndexChangeView]
    private let collection: FormField
    private let fields: FormField
    private let hasSessions: Bool
    private let sessions: [SessionView]
    private let limits: [LimitView]
    /// The page that deletes the database; `nil` if it cannot be deleted, or not by the user.
    private let deleteDatabaseURL: String?

    /// - Parameters:
    ///   - indexes: The composite indexes and exemptions; `nil` if the caller may not list them.
    ///   - sessions: The sessions that the caller may see.
    ///   - canDelete: True if the user may delete databases.
    init(
        indexes: IndexReport?,
        sessions: [SessionView],
        limits: [LimitView],
        input: Input = Input(),
        canDelete: Bool = false,
        problems: FormProblems = FormProblems()
    ) {
        deleteDatabaseURL = canDelete ? AdminURL.database.map(AdminURL.delete) : nil
        problemAlert = ProblemAlert(problems)
        showsIndexes = indexes != nil
        self.indexes = (indexes?.indexes ?? []).map { IndexView($0.id, $0.definition, $0.buildState) }
        hasIndexes = !self.indexes.isEmpty
        exemptions = (indexes?.exemptions ?? []).map(ExemptionView.init)
        hasExemptions = !exemptions.isEmpty
        changes = (indexes?.backfills ?? []).map { IndexChangeView($0.collection, $0.buildState) }
        collection = FormField("collection", input.collection, problems: problems)
        fields = FormField("fields", input.fields, problems: problems)
        self.sessions = sessions
        hasSessions = !sessions.isEmpty
        self.limits = limits
        status = problems.status
        layout.refreshes = problems.isEmpty && (indexes?.isChanging ?? false)
    }
}

extension IndexReport {
    /// True if index entries are being built or removed.
    fileprivate var isChanging: Bool {
        !backfills.isEmpty || indexes.contains { if case .building = $0.buildState { true } else { false } }
    }
}

extension IndexReport.BuildState {
    /// The state in the language of the page.
    fileprivate var text: String {
        switch self {
        case .ready: localized("ready")
        case .building(let done, let total?):
            localized("{done} of {total} documents", ["done": NumberFormat.grouped(done), "total": NumberFormat.grouped(total)])
        case .building(0, nil): localized("starting")
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
struct IndexView: ViewModel {
    private let id: String
    private let collection: DisplayText
    private let indexFields: [DisplayText]
    private let buildState: String
    private let unavailableReason: DisplayText?

    init(_ id: String, _ definition: IndexDefinition, _ buildState: IndexReport.BuildState) {
        self.id = id
        collection = DisplayText(definition.collection.key.string)
        indexFields = definition.fields.map { DisplayText("\($0.field) \($0.direction == .ascending ? "↑" : "↓")") }
        self.buildState = buildState.text
        unavailableReason = buildState.unavailableReason
    }
}

/// A row of the list of single-field index exemptions.
struct ExemptionView: ViewModel {
    private let collection: DisplayText
    private let field: DisplayText
    /// The form value of the collection.
    private let collectionText: String
    /// The form value of the field.
    private let fieldText: String

    init(_ exemption: IndexExemption) {
        collection = DisplayText(exemption.collection.key.string)
        field = DisplayText(exemption.field.description)
        collectionText = FormTextCoding.encodeLine(exemption.collection.key.string)
        fieldText = FormTextCoding.encodeLine(exemption.field.description)
    }
}

/// The progress of building or removing the index entries of a collection.
struct IndexChangeView: ViewModel {
    private let collection: DisplayText
    private let buildState: String

    init(_ collection: CollectionID, _ buildState: IndexReport.BuildState) {
        self.collection = DisplayText(collection.key.string)
        self.buildState = buildState.text
    }
}

/// A row of the list of browser sessions.
struct SessionView: ViewModel {
    private let sessionName: String
    private let label: DisplayText
    private let isCurrent: Bool
    private let role: String
    private let network: DisplayText
    private let started: RelativeTimeView
    private let lastUsed: RelativeTimeView

    init(_ session: Session, keys: [APIKey], current: Session?, now: Timestamp) {
        sessionName = session.name.string
        role = session.caller.role.rawValue
        network = DisplayText(session.network.string)
        started = RelativeTimeView(session.startTime, now: now)
        lastUsed = RelativeTimeView(session.lastUseTime, now: now)
        let key = keys.first { $0.id == session.caller.keyID }
        label = DisplayText(key?.name ?? session.caller.keyID?.string ?? "")
        isCurrent = session.name == current?.name
    }
}

/// A configured limit.
struct LimitView: ViewModel {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        (self.name, self.value) = (name, value)
    }
}
