import DocumentModel
import UTF8Text

/// A page or an action that the search box offers by name.
struct PageCommand: Sendable {
    let title: String
    let url: String
    /// The collection or document that the action applies to; `nil` for a page about the database.
    let path: ResourcePath?
    /// English search terms, separated by spaces, besides the title.
    private let terms: String

    private init(_ title: String, _ url: String, path: ResourcePath? = nil, terms: String = "") {
        (self.title, self.url, self.path, self.terms) = (title, url, path, terms)
    }

    /// Returns whether each word of a text is the beginning of a word in the title or the search terms, ignoring case.
    func matches(_ text: String) -> Bool {
        let words = "\(title.lowercased()) \(terms)".utf8.split(separator: UInt8(ascii: " "))
        return text.lowercased().utf8.split(separator: UInt8(ascii: " "))
            .allSatisfy { beginning in words.contains { $0.starts(with: beginning) } }
    }

    /// Returns whether a text is the title, ignoring case.
    func isNamed(_ text: String) -> Bool {
        title.lowercased().utf8.elementsEqual(text.lowercased().utf8)
    }

    /// Returns the commands that a principal may use on the page of a collection or document.
    static func all(for principal: Principal, at location: ResourcePath?) -> [PageCommand] {
        (location.map { commands(for: principal, at: $0) } ?? []) + pages(for: principal)
    }

    private static func commands(for principal: Principal, at location: ResourcePath) -> [PageCommand] {
        var commands: [PageCommand] = []
        func add(_ title: String, _ query: String, isChange: Bool = false, terms: String) {
            guard principal.canWrite || !isChange else { return }
            commands.append(PageCommand(title, AdminURL.resource(location) + query, path: location, terms: terms))
        }
        switch location {
        case .collection:
            add(localized("New document"), "?new", isChange: true, terms: "new document create add")
            add(localized("Types"), "?view=types", terms: "types schema outliers")
            add(localized("Export"), "#export", terms: "export download csv ndjson json kml atom")
            add(localized("Delete collection"), "?delete", isChange: true, terms: "delete collection remove drop")
        case .document:
            add(localized("Edit document"), "?edit", isChange: true, terms: "edit document change")
            add(localized("History"), "?history", terms: "history versions restore")
            add(localized("Delete document"), "?delete", isChange: true, terms: "delete document remove")
        }
        return commands
    }

    private static func pages(for principal: Principal) -> [PageCommand] {
        var pages = [
            PageCommand(localized("Overview"), AdminURL.overview, terms: "overview home database collections server metrics"),
            PageCommand(localized("Query"), AdminURL.query, terms: "query run explain aggregate"),
        ]
        if principal.canWrite {
            pages.append(PageCommand(localized("New collection"), AdminURL.newCollection, terms: "new collection create"))
            pages.append(PageCommand(localized("Import"), AdminURL.import, terms: "import upload restore csv ndjson json"))
        }
        if principal.canListDatabases {
            pages.append(PageCommand(localized("Databases"), AdminURL.databases, terms: "databases new create delete"))
        }
        pages += [
            PageCommand(localized("Background jobs"), AdminURL.jobs, terms: "jobs imports deletions progress"),
            PageCommand(localized("Backup"), AdminURL.overview + "#backup", terms: "backup export"),
            PageCommand(localized("Composite indexes"), AdminURL.settings + "#indexes", terms: "composite indexes"),
            PageCommand(
                localized("Single-field index exemptions"),
                AdminURL.settings + "#exemptions",
                terms: "single-field index exemptions indexes"
            ),
            PageCommand(localized("Sessions"), AdminURL.settings + "#sessions", terms: "sessions browsers sign out"),
            PageCommand(localized("Limits"), AdminURL.settings + "#limits", terms: "limits quotas"),
            PageCommand(localized("Settings"), AdminURL.settings, terms: "settings"),
        ]
        if principal.isAdmin {
            pages += [
                PageCommand(localized("Activity"), AdminURL.activity, terms: "activity charts metrics monitoring latency"),
                PageCommand(localized("Slow calls"), AdminURL.slowCalls, terms: "slow calls queries performance"),
                PageCommand(localized("Log"), AdminURL.log, terms: "server logs errors messages"),
                PageCommand(localized("Backups"), AdminURL.backups, terms: "backups restore verify"),
                PageCommand(localized("Rules"), AdminURL.rules, terms: "security rules"),
                PageCommand(localized("Playground"), AdminURL.rulesPlayground, terms: "rules playground simulator test"),
                PageCommand(localized("Keys"), AdminURL.keys, terms: "api keys access"),
                PageCommand(localized("Create a key"), AdminURL.keys + "#another", terms: "create new api key"),
            ]
        }
        let reference = PageCommand(localized("API reference"), AdminURL.documentation, terms: "api reference rpc methods help")
        return pages + [reference]
    }
}
