import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// The first page: the collections at the top with how many documents they have, and what the server says of itself.
struct OverviewPage: Page {
    static let template = TemplateLibrary.Name.overview

    /// A named property of the server.
    struct Fact: Sendable {
        let name: String
        let value: DisplayText
        let time: TimeView?

        init(_ name: String, _ value: String, time: TimeView? = nil) {
            self.name = name
            self.value = DisplayText(value)
            self.time = time
        }
    }

    /// A collection, and how much is in it; nil where that isn't known.
    struct Card: Sendable {
        let link: LinkView
        let size: CollectionSize?
    }

    var chrome = PageChrome(title: localized("Overview"))
    private let cards: [Card]
    private let facts: [Fact]
    private let rates: RateChart?
    /// Why documents can't be written.
    private let obstacle: DisplayText?
    /// Why there are no queries now.
    private let indexObstacle: DisplayText?
    private let firstCall: String
    private let databases: [LinkView]
    /// How many documents wait to be put into their files.
    private let waiting: String?
    private let log: [LogLine]
    private let backup: String

    /// - Parameters:
    ///   - info: What the server says of itself.
    ///   - databases: All databases, the default one first; none where the caller may not know.
    ///   - cards: The collections at the top.
    ///   - log: The last lines of the log, the newest first; none where the caller may not see them.
    ///   - curl: How the server is called, for the example.
    ///   - now: The present.
    init(
        _ info: ServerInfo.Result,
        databases: [DatabaseID],
        cards: [Card],
        log: [RecentLog.Line],
        curl: CurlCommand,
        now: Timestamp
    ) {
        self.cards = cards
        self.log = log.map(LogLine.init)
        waiting = info.storage.flatMap { storage in
            guard storage.waitingCount > 0 else { return nil }
            return localized(
                count: storage.waitingCount,
                one: "{count} document is in the journal only, since its file can’t be changed.",
                other: "{count} documents are in the journal only, since their files can’t be changed."
            )
        }
        backup = curl.export(of: AdminURL.database)
        facts = Self.facts(info, now: now)
        rates = info.activity.flatMap { RateChart($0.rates) }
        obstacle = info.writeObstacle.map { DisplayText($0.message) }
        indexObstacle = if case .unavailable(let reason) = info.index { DisplayText(reason) } else { nil }
        firstCall = curl.call(Self.firstCall)
        self.databases = databases.enumerated().map { index, id in
            LinkView(
                url: AdminURL.overview(of: index == 0 ? nil : id),
                text: DisplayText(id.description),
                isCurrent: AdminURL.database == (index == 0 ? nil : id)
            )
        }
    }

    func content(named name: String) -> Any? {
        switch name {
        case "cards": cards
        case "hasCards": !cards.isEmpty
        case "facts": facts
        case "rates": rates.orAbsent
        case "obstacle": obstacle.orAbsent
        case "indexObstacle": indexObstacle.orAbsent
        case "waiting": waiting.orAbsent
        case "log": log
        case "hasLog": !log.isEmpty
        case "backup": backup
        case "firstCall": firstCall
        case "databasesMarkup": databases.itemsMarkup(current: "true")
        case "hasDatabases": databases.count > 1
        // It lists the collections itself.
        case "hasSide": false
        case "isOverview": true
        case "damagedRoots": chrome.damagedRoots.orAbsent
        case "isEmpty": chrome.roots.isEmpty && chrome.damagedRoots == nil
        default: nil
        }
    }
}

extension OverviewPage {
    private static func facts(_ info: ServerInfo.Result, now: Timestamp) -> [Fact] {
        let position = info.position
        var facts = [
            Fact(localized("Version"), "\(ServerDescription.name) \(ServerDescription.version)"),
            Fact(localized("Running"), Age.text(of: info.uptime)),
            Fact(localized("Commits"), Counting.grouped(position.lastSequence.rawValue)),
        ]
        if let time = position.lastCommitTime {
            facts.append(Fact(localized("Last commit"), Age.text(of: time, at: now), time: TimeView(time)))
        }
        if let size = info.size {
            facts.append(
                Fact(localized("Documents"), "\(Counting.grouped(size.documentCount)) · \(ByteSize.text(size.byteCount))")
            )
        }
        if let activity = info.activity {
            facts.append(Fact(localized("Streams open"), Counting.grouped(activity.watcherCount)))
        }
        if info.sessionCount > 0 {
            facts.append(Fact(localized("Browsers signed in"), Counting.grouped(info.sessionCount)))
        }
        facts.append(Fact(localized("Index"), text(of: info.index)))
        if let storage = info.storage {
            let sizes: KeyValuePairs<StaticString, String> = [
                "size": ByteSize.text(storage.journalBytes), "limit": ByteSize.text(storage.maximumJournalBytes),
            ]
            facts.append(Fact(localized("Journal"), localized("{size} of at most {limit}", sizes)))
            if let bytes = storage.freeBytes { facts.append(Fact(localized("Room on the disk"), ByteSize.text(bytes))) }
        }
        if let bytes = info.activity?.residentBytes { facts.append(Fact(localized("Memory"), ByteSize.text(bytes))) }
        return facts
    }

    private static func text(of index: IndexReport.Progress) -> String {
        switch index {
        case .ready: localized("ready")
        case .building(let done, nil):
            localized(count: done, one: "being made, {count} document done", other: "being made, {count} documents done")
        case .building(let done, let total?):
            localized(
                "being made, {done} of {total} documents done",
                ["done": Counting.grouped(done), "total": Counting.grouped(total)]
            )
        case .unavailable: localized("unavailable")
        }
    }

    /// A call that creates a first document.
    private static let firstCall = """
        {
          "jsonrpc": "2.0", "id": 1, "method": "documents.create",
          "params": {
            "collection": "books", "id": "hitchhiker",
            "fields": {"title": "The Hitchhiker\\u2019s Guide to the Galaxy", "numberOfPages": 816, "color": "#fd1c48"}
          }
        }
        """
}

extension OverviewPage.Fact: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "name": self.name
        case "value": value
        case "time": time.orAbsent
        default: nil
        }
    }
}

extension OverviewPage.Card: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": link.url
        case "text": link.text
        case "count": (size.map { "\(Counting.grouped($0.documentCount)) · \(ByteSize.text($0.byteCount))" }).orAbsent
        default: nil
        }
    }
}
