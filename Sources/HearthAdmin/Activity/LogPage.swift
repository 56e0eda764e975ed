import HearthAPI
import Logging
import UTF8Text

/// The latest entries of the server's log, newest first.
struct LogPage: Page {
    static let template = TemplateLibrary.Name.log

    var layout = PageLayout(title: localized("Log"), section: .activity)
    private let viewsMarkup = ServerView.log.linksMarkup
    private let action = AdminURL.log
    private let levelsMarkup: Markup
    private let text: String
    private let isFiltered: Bool
    private let entries: [LogEntryView]
    private let hasEntries: Bool
    private let count: String
    private let capacity = NumberFormat.grouped(RecentLog.capacity)

    /// - Parameter entries: The latest entries, oldest first.
    init(_ entries: [RecentLog.Entry], filter: LogFilter) {
        let matching = entries.reversed().filter(filter.matches)
        levelsMarkup =
            LogFilter.levels
            .map { FormOption($0.rawValue, $0.optionText, isSelected: $0 == filter.level) }.optionsMarkup
        text = filter.text
        isFiltered = filter.isActive
        self.entries = matching.map(LogEntryView.init)
        hasEntries = !matching.isEmpty
        count = localized(count: matching.count, one: "{count} entry", other: "{count} entries")
    }
}

/// The log entries that a page shows: those from a level on that contain a text.
struct LogFilter {
    let level: Logger.Level
    let text: String

    /// The levels of a filter. The log keeps none below.
    static let levels: [Logger.Level] = [.info, .notice, .warning, .error, .critical]

    init(_ query: URLQuery) {
        level = query["level"].flatMap { Logger.Level(rawValue: $0.string) } ?? .info
        text = query["q"]?.string ?? ""
    }

    /// True if some entries may be left out.
    var isActive: Bool { level > .info || !text.utf8.isEmpty }

    /// Returns whether an entry has the level, and the text in its message or details, ignoring case.
    func matches(_ entry: RecentLog.Entry) -> Bool {
        guard entry.level >= level else { return false }
        let text = Array(text.lowercased().utf8)
        guard !text.isEmpty else { return true }
        return ([entry.message] + entry.details.map { "\($0.name)=\($0.value)" })
            .contains { $0.lowercased().utf8.firstRange(of: text) != nil }
    }
}

extension Logger.Level {
    fileprivate var optionText: String {
        switch self {
        case .trace, .debug, .info: localized("All levels")
        case .notice: localized("Notice and above")
        case .warning: localized("Warning and above")
        case .error: localized("Error and above")
        case .critical: localized("Critical")
        }
    }
}
