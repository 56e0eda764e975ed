import HearthAPI

/// A page about the server, among which admins switch.
enum ServerView: CaseIterable {
    case activity
    case slowCalls
    case log
    case jobs
    case backups

    private var text: String {
        switch self {
        case .activity: localized("Activity")
        case .slowCalls: localized("Slow calls")
        case .log: localized("Log")
        case .jobs: localized("Jobs")
        case .backups: localized("Backups")
        }
    }

    private var url: String {
        switch self {
        case .activity: AdminURL.activity
        case .slowCalls: AdminURL.slowCalls
        case .log: AdminURL.log
        case .jobs: AdminURL.jobs
        case .backups: AdminURL.backups
        }
    }

    /// The links between the pages.
    var linksMarkup: Markup {
        Self.allCases.map { LinkOption(text: $0.text, url: $0.url, isCurrent: $0 == self) }.itemsMarkup(current: "page")
    }
}
