import DocumentModel
import StrictJSON

/// What takes long and is under way, or was a while ago, each with the way to its own page.
struct WorksPage: Page {
    static let template = TemplateLibrary.Name.works

    /// A work, as the list has it.
    fileprivate struct Row: Sendable {
        let work: Work
        let progress: Work.Progress
        let start: DocumentHeader.Moment
    }

    var chrome = PageChrome(title: localized("Imports and deletions"))
    private let rows: [Row]
    private let busyDatabases: [DatabaseID]

    /// - Parameters:
    ///   - works: Those of the database that may be seen, the newest first.
    ///   - busyDatabases: Others in which something is under way.
    init(_ works: [Work], busyDatabases: [DatabaseID], now: Timestamp) {
        self.busyDatabases = busyDatabases
        let rows = works.map { Row(work: $0, progress: $0.progress, start: .init($0.startTime, now: now)) }
        self.rows = rows.filter { !$0.progress.isOver } + rows.filter(\.progress.isOver)
        chrome.refreshes = rows.contains { !$0.progress.isOver }
    }

    func content(named name: String) -> Any? {
        switch name {
        case "heading": chrome.title
        case "works": rows
        case "hasWorks": !rows.isEmpty
        case "action": AdminURL.works
        case "limit": Counting.grouped(Works.maximumRunning)
        case "ownLimit": Counting.grouped(Works.maximumRunningPerOwner)
        case "isBusyElsewhere": !busyDatabases.isEmpty
        case "busyDatabases":
            busyDatabases.map { LinkView(url: AdminURL.works(in: $0), text: DisplayText($0.description)) }
        case "importURL": AdminURL.importing
        default: nil
        }
    }
}

extension WorksPage.Row: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": AdminURL.work(work.id)
        case "title": work.title
        case "subject": work.shownSubject.orAbsent
        case "count": work.countText(progress)
        case "state": state
        case "start": start
        default: nil
        }
    }

    private var state: String {
        switch (progress.isOver, progress.failure) {
        case (false, _): work.isStopping ? localized("It stops after what it is doing.") : localized("under way")
        case (true, .some): localized("It ended before it was done.")
        case (true, nil): work.isStopping ? localized("Stopped before the end.") : localized("Done.")
        }
    }
}

extension Work {
    /// What it is called.
    var title: String {
        switch kind {
        case .deleting: localized("Deleting")
        case .checking: localized("Checking")
        case .importing: localized("Importing")
        }
    }

    /// What it does that to; nil where that has no name, as a file need not have one.
    var shownSubject: DisplayText? {
        subject.utf8.isEmpty ? nil : DisplayText(subject.shortened(scalars: 80))
    }

    /// How much is done.
    func countText(_ progress: Progress) -> String {
        switch kind {
        case .deleting: localized(count: progress.done, one: "{count} document deleted", other: "{count} documents deleted")
        case .checking: localized(count: progress.done, one: "{count} document read", other: "{count} documents read")
        case .importing: localized(count: progress.done, one: "{count} document imported", other: "{count} documents imported")
        }
    }
}
