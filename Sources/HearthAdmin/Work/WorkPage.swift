import DocumentModel
import StrictJSON

/// How far something is that takes long. While it goes on, the page loads itself again.
struct WorkPage: Page {
    static let template = TemplateLibrary.Name.work

    var chrome: PageChrome
    private let work: Work
    private let progress: Work.Progress

    init(_ work: Work) {
        self.work = work
        progress = work.progress
        chrome = PageChrome(title: work.shownSubject.map { "\(work.title) · \($0.plain)" } ?? work.title)
        chrome.refreshes = !progress.isOver
    }

    func content(named name: String) -> Any? {
        switch name {
        case "heading": work.title
        case "subject": work.shownSubject.orAbsent
        case "isOver": progress.isOver
        case "isDone": progress.isOver && progress.failure == nil
        case "isStopped": work.isStopping
        case "failure": progress.failure.map { DisplayText($0) }.orAbsent
        case "count": work.countText(progress)
        case "done": progress.done
        case "total": progress.total.orAbsent
        case "faults": progress.faults.elements.map(FaultView.init)
        case "hasFaults": !progress.faults.isEmpty
        case "hiddenFaults": progress.faults.rest.orAbsent
        case "keptCount": keptCount.orAbsent
        case "kept":
            progress.kept.elements.map {
                LinkView(url: AdminURL.document($0), text: DisplayText($0.string.shortened(scalars: 80)))
            }
        case "hiddenKept": progress.kept.rest.orAbsent
        case "skippedCount": skippedCount.orAbsent
        case "goneCount": goneCount.orAbsent
        case "lostCount": lostCount.orAbsent
        case "backURL": work.backURL
        case "action": AdminURL.work(work.id)
        case "worksURL": AdminURL.works
        default: nil
        }
    }

    private var keptCount: String? {
        guard !progress.kept.isEmpty else { return nil }
        return localized(
            count: progress.kept.count,
            one: "{count} document was written after you had been asked, and was kept:",
            other: "{count} documents were written after you had been asked, and were kept:"
        )
    }

    private var skippedCount: String? {
        guard progress.skippedCount > 0 else { return nil }
        return localized(
            count: progress.skippedCount,
            one: "{count} document was there already and was left as it is.",
            other: "{count} documents were there already and were left as they are."
        )
    }

    private var goneCount: String? {
        guard progress.goneCount > 0 else { return nil }
        return localized(
            count: progress.goneCount,
            one: "{count} document had been deleted by somebody else.",
            other: "{count} documents had been deleted by somebody else."
        )
    }

    private var lostCount: String? {
        guard progress.lostCount > 0 else { return nil }
        return localized(
            count: progress.lostCount,
            one:
                "{count} document is no longer found: it was changed or deleted after you had been asked, and nothing was done to it.",
            other:
                "{count} documents are no longer found: they were changed or deleted after you had been asked, and nothing was done to them."
        )
    }
}
