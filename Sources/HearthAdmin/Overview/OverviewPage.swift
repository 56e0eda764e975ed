import DocumentModel
import DocumentStore
import HearthAPI
internal import UTF8Text

/// The overview of a database: the root collections with their sizes, and the state of the server.
struct OverviewPage: Page {
    static let template = TemplateLibrary.Name.overview

    /// A property of the server.
    struct Fact: ViewModel {
        let name: String
        let value: DisplayText
        let time: TimeView?

        init(_ name: String, _ value: String, time: TimeView? = nil) {
            self.name = name
            self.value = DisplayText(value)
            self.time = time
        }
    }

    /// A collection with its size; the size is `nil` if it is unknown.
    struct Card: ViewModel {
        private let url: String
        private let text: DisplayText
        private let documentCount: String?
        private let size: String?

        init(_ id: CollectionID, size: CollectionSize?) {
            url = AdminURL.data([id.key])
            text = DisplayText(id.key.string)
            documentCount = size.map { NumberFormat.grouped($0.documentCount) }
            self.size = size.map { ByteSize.text($0.byteCount) }
        }
    }

    var layout = PageLayout(title: localized("Overview"), section: .overview)
    private let isEmpty: Bool
    private let cards: [Card]
    private let hasCards: Bool
    /// True if the collections are shown as a table instead of cards.
    private let hasTable: Bool
    private let damagedRootCollections: DamagedFileList?
    /// The edits of files that need a person.
    private let fileProblems: FileProblemList?
    private let facts: [Fact]
    private let rates: RateChart?
    /// The reason why writes are rejected.
    private let writeBlockedReason: DisplayText?
    /// The reason why queries are unavailable.
    private let indexUnavailableReason: DisplayText?
    /// True if the server has the example documents.
    private let hasExamples: Bool
    private let exampleURL = AdminURL.loadExamples
    /// The page of all databases; `nil` if the user may not list them.
    private let databasesURL: String?
    private let hasDatabases: Bool
    private let databasesMarkup: Markup
    /// The number of unapplied documents, in words; `nil` if there are none.
    private let unappliedText: String?
    private let log: [LogEntryView]
    private let hasLog: Bool
    private let backup: String
    /// True if the server has a folder for backups.
    private let hasBackups: Bool
    private let backupsURL = AdminURL.backups

    /// - Parameters:
    ///   - info: The state of the server.
    ///   - databases: All databases, the default one first; empty when the caller may not list them.
    ///   - roots: The root collections; `nil` if the caller may not list them.
    ///   - fileProblems: The edits of files that need a person; `nil` when the caller may not list them.
    ///   - cards: The root collections with their sizes.
    ///   - hasExamples: Whether the server has the example documents.
    ///   - log: The latest log entries, newest first; empty when the caller may not read them.
    ///   - commands: Formats the shell commands to copy.
    ///   - now: The current time.
    init(
        _ info: GetServerInfo.Result,
        databases: [DatabaseID],
        roots: CollectionPage?,
        fileProblems: FileProblemReport?,
        cards: [Card],
        hasExamples: Bool,
        log: [RecentLog.Entry],
        hasBackups: Bool,
        commands: ShellCommands,
        now: Timestamp
    ) {
        damagedRootCollections = roots.flatMap { DamagedFileList($0.damaged) }
        self.fileProblems = fileProblems.flatMap(FileProblemList.init)
        isEmpty = (roots?.collections ?? []).isEmpty && damagedRootCollections == nil
        self.cards = cards
        hasCards = !cards.isEmpty
        hasTable = cards.count > Self.maximumCards
        self.hasExamples = hasExamples
        self.log = log.map(LogEntryView.init)
        hasLog = !log.isEmpty
        unappliedText = info.storage.flatMap { storage in
            guard storage.unappliedCount > 0 else { return nil }
            return localized(
                count: storage.unappliedCount,
                one: "The latest change to {count} document can’t be written to its file.",
                other: "The latest changes to {count} documents can’t be written to their files."
            )
        }
        self.hasBackups = hasBackups
        backup = commands.export(of: AdminURL.database)
        facts = Self.facts(info, now: now)
        rates = info.activity.flatMap { RateChart($0.rates) }
        let reason = info.writeBlockedReason ?? info.standby.map { .standby(of: $0.primary) }
        writeBlockedReason = reason.map { DisplayText($0.message) }
        indexUnavailableReason = if case .unavailable(let reason) = info.index { DisplayText(reason) } else { nil }
        databasesURL = databases.isEmpty ? nil : AdminURL.databases
        hasDatabases = databases.count > 1
        databasesMarkup = databases.enumerated().map { index, id in
            let database = index == 0 ? nil : id
            return NavigationLink(
                link: LinkView(url: AdminURL.overview(of: database), text: DisplayText(id.description)),
                isCurrent: AdminURL.database == database
            )
        }
        .itemsMarkup(current: "true")
    }
}

extension OverviewPage {
    private static func facts(_ info: GetServerInfo.Result, now: Timestamp) -> [Fact] {
        let position = info.position
        var facts = [
            Fact(localized("Version"), "\(ServerDescription.name) \(ServerDescription.version)"),
            Fact(localized("Uptime"), RelativeTime.text(of: info.uptime)),
            Fact(localized("Commits"), NumberFormat.grouped(position.lastSequence.rawValue)),
        ]
        if let time = position.lastCommitTime {
            facts.append(Fact(localized("Last commit"), RelativeTime.text(of: time, at: now), time: TimeView(time)))
        }
        if let size = info.size {
            facts.append(
                Fact(localized("Documents"), "\(NumberFormat.grouped(size.documentCount)) · \(ByteSize.text(size.byteCount))")
            )
        }
        if let activity = info.activity {
            facts.append(Fact(localized("Open streams"), NumberFormat.grouped(activity.watcherCount)))
        }
        if info.sessionCount > 0 {
            facts.append(Fact(localized("Browser sessions"), NumberFormat.grouped(info.sessionCount)))
        }
        facts.append(Fact(localized("Index"), text(of: info.index)))
        if let storage = info.storage {
            let sizes: KeyValuePairs<StaticString, String> = [
                "size": ByteSize.text(storage.journalBytes), "limit": ByteSize.text(storage.maximumJournalBytes),
            ]
            facts.append(Fact(localized("Journal"), localized("{size} of {limit}", sizes)))
            let low = storage.lowDiskResources
            if let bytes = storage.freeBytes {
                facts.append(Fact(localized("Free disk space"), text(ofFree: ByteSize.text(bytes), isLow: low.contains(.space))))
            }
            if low.contains(.inodes), let inodes = storage.inodes {
                facts.append(Fact(localized("Free inodes"), text(ofFree: NumberFormat.grouped(inodes.free), isLow: true)))
            }
        }
        if let bytes = info.activity?.residentBytes { facts.append(Fact(localized("Memory"), ByteSize.text(bytes))) }
        return facts
    }

    private static func text(ofFree amount: String, isLow: Bool) -> String {
        isLow ? localized("{amount}, running out", ["amount": amount]) : amount
    }

    private static func text(of index: IndexReport.BuildState) -> String {
        switch index {
        case .ready: localized("ready")
        case .building(let done, nil):
            localized(count: done, one: "building, {count} document indexed", other: "building, {count} documents indexed")
        case .building(let done, let total?):
            localized(
                "building, {done} of {total} documents indexed",
                ["done": NumberFormat.grouped(done), "total": NumberFormat.grouped(total)]
            )
        case .unavailable: localized("unavailable")
        }
    }

    /// The maximum number of collections that are shown as cards.
    private static let maximumCards = 8
}
