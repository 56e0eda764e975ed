import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// The first page: the collections at the top, and what the server says of itself.
struct OverviewPage: Page {
    static let template = TemplateLibrary.Name.overview

    /// A named property of the server.
    struct Fact: Sendable {
        let name: String
        let value: DisplayText
        let time: TimeView?
    }

    var chrome = PageChrome(title: localized("Overview"))
    private let facts: [Fact]
    private let firstCall: String
    private let databases: [LinkView]

    /// - Parameters:
    ///   - info: What the server says of itself.
    ///   - databases: All databases, the default one first; none where the caller may not know.
    ///   - curl: How the server is called, for the example.
    ///   - now: The present.
    init(_ info: ServerInfo.Result, databases: [DatabaseID], curl: CurlCommand, now: Timestamp) {
        let position = info.position
        var facts = [
            Fact(
                name: localized("Version"),
                value: DisplayText("\(ServerDescription.name) \(ServerDescription.version)"),
                time: nil
            ),
            Fact(name: localized("Running"), value: DisplayText(Age.text(of: info.uptime)), time: nil),
            Fact(name: localized("Commits"), value: DisplayText(Counting.grouped(position.lastSequence.rawValue)), time: nil),
        ]
        if let time = position.lastCommitTime {
            facts.append(
                Fact(name: localized("Last commit"), value: DisplayText(Age.text(of: time, at: now)), time: TimeView(time))
            )
        }
        self.facts = facts
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
        case "facts": facts
        case "firstCall": firstCall
        case "databases": databases
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
