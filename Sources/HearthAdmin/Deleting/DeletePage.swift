import DocumentModel
import HTTPTypes
import StrictJSON

/// What deleting a document or a collection would take away, and the form that does it.
struct DeletePage: Page {
    static let template = TemplateLibrary.Name.delete

    /// What is to be deleted.
    enum Subject: Sendable {
        case document(DocumentPath, base: EditBase, below: Extent)
        case collection(CollectionPath, Extent)
        /// The documents of a collection that filters find.
        case found(CollectionRequest, Extent)
        /// Some documents of a collection.
        case documents([Deletion.Version], in: CollectionPath, below: Extent)
    }

    var chrome: PageChrome
    private(set) var status: HTTPResponse.Status
    private let subject: Subject
    private var problems: FormProblems
    private let heading: PathHeading
    private let typed: String
    private let deletesBelow: Bool
    private let shownTime: Timestamp

    /// - Parameter shownTime: The last commit that the page shows: what is written after it is not what is confirmed.
    init(
        _ subject: Subject,
        at shownTime: Timestamp,
        problems: FormProblems = FormProblems(),
        typed: String = "",
        deletesBelow: Bool = false
    ) {
        self.subject = subject
        self.shownTime = shownTime
        self.problems = problems
        self.typed = typed
        self.deletesBelow = deletesBelow
        status = problems.isEmpty ? .ok : .unprocessableContent
        let segments = subject.segments
        heading = PathHeading(segments)
        chrome = PageChrome(at: segments)
        chrome.title = localized("Delete") + " · " + chrome.title
    }

    /// The same page where what was confirmed could not be begun.
    func refused(by refusal: Works.Refusal) -> DeletePage {
        var page = self
        (page.problems, page.status) = (refusal.problems, refusal.status)
        return page
    }

    func content(named name: String) -> Any? {
        switch name {
        case "isDocument": if case .document = subject { true } else { false }
        case "isMissing": if case .document(_, let base, _) = subject { base.updateTime == nil } else { false }
        case "shownTime": shownTime.formText
        case "damaged": DamagedFiles(extent.damaged).orAbsent
        case "isCollection": if case .collection = subject { true } else { false }
        case "isFound": if case .found = subject { true } else { false }
        case "isSelection": if case .documents = subject { true } else { false }
        case "selected": selected
        case "selectedCount":
            localized(count: selected.count, one: "Delete {count} document?", other: "Delete {count} documents?")
        case "extent": extent.text
        // A number for the form that comes back, not for people.
        case "foundCount": String(extent.count)
        case "hasBelow": extent.count > 0
        case "base": if case .document(_, let base, _) = subject { base.text } else { "" }
        case "below": FormField("below", "", problems: problems, isChosen: deletesBelow)
        case "typedName": FormField("name", typed, problems: problems)
        case "expectedName": DisplayText(subject.segments.last?.string ?? "")
        case "action": subject.action
        case "backURL": subject.url
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: heading.child(named: name)
        }
    }

    private var extent: Extent {
        switch subject {
        case .document(_, _, let below): below
        case .collection(_, let extent), .found(_, let extent): extent
        case .documents(_, _, let below): below
        }
    }

    /// The documents of a selection.
    private var selected: [SelectedDocument] {
        guard case .documents(let versions, _, _) = subject else { return [] }
        return versions.map { SelectedDocument(version: $0) }
    }
}

extension DeletePage.Subject {
    fileprivate var segments: [UTF8Key] {
        switch self {
        case .document(let path, _, _): path.segments
        case .collection(let path, _), .documents(_, let path, _): path.segments
        case .found(let request, _): request.path.segments
        }
    }

    fileprivate var url: String {
        switch self {
        case .document(let path, _, _): AdminURL.document(path)
        case .collection(let path, _), .documents(_, let path, _): AdminURL.collection(path)
        case .found(let request, _): request.url()
        }
    }

    fileprivate var action: String {
        if case .found(let request, _) = self { AdminURL.delete(found: request) } else { url + "?delete" }
    }
}
