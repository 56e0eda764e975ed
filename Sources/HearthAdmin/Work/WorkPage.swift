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
        chrome = PageChrome(title: work.kind == .deleting ? localized("Deleting") : localized("Importing"))
        chrome.refreshes = !progress.isOver
    }

    func content(named name: String) -> Any? {
        switch name {
        case "heading": chrome.title
        case "isOver": progress.isOver
        case "isDone": progress.isOver && progress.failure == nil
        case "isStopped": work.isStopping
        case "failure": progress.failure.map { DisplayText($0) }.orAbsent
        case "count": count
        case "done": progress.done
        case "total": progress.total.orAbsent
        case "faults": progress.faults.map(FaultView.init)
        case "hasFaults": !progress.faults.isEmpty
        case "hiddenFaults":
            progress.faultCount > progress.faults.count
                ? localized(
                    count: progress.faultCount - progress.faults.count,
                    one: "And {count} more.",
                    other: "And {count} more."
                )
                : Absent()
        case "backURL": work.backURL
        case "action": AdminURL.work(work.id)
        default: nil
        }
    }

    private var count: String {
        switch work.kind {
        case .deleting: localized(count: progress.done, one: "{count} document deleted", other: "{count} documents deleted")
        case .importing: localized(count: progress.done, one: "{count} document imported", other: "{count} documents imported")
        }
    }
}

/// Something that could not be done, for the page.
struct FaultView: Sendable {
    private let place: DisplayText
    private let message: DisplayText

    init(_ fault: Work.Fault) {
        place = DisplayText(fault.place)
        message = DisplayText(fault.message)
    }
}

extension FaultView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "place": place
        case "message": message
        default: nil
        }
    }
}
