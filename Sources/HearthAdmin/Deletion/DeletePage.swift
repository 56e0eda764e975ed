import DocumentModel
import HTTPTypes
import UTF8Text

/// The confirmation page of a deletion, with the number of affected documents.
struct DeletePage: Page {
    static let template = TemplateLibrary.Name.delete

    /// The documents to delete.
    enum Subject: Sendable {
        case document(DocumentPath, base: DocumentRevision, below: DocumentCountEstimate)
        case collection(CollectionPath, DocumentCountEstimate)
        /// The documents of a collection that match filters.
        case matching(CollectionRequest, DocumentCountEstimate)
        /// Selected rows of a table.
        case selection([SelectedDocument], in: CollectionPath, below: DocumentCountEstimate)
    }

    var layout: PageLayout
    private(set) var status: HTTPResponse.Status
    private let subject: Subject
    private var problems: FormProblems
    private let heading: PathHeading
    private let confirmationInput: String
    private let deletesBelow: Bool
    private let shownTime: Timestamp

    /// - Parameters:
    ///   - shownTime: The time of the last commit that the page shows. Later writes are not part of the confirmation.
    ///   - confirmationInput: The typed name of the collection.
    init(
        _ subject: Subject,
        at shownTime: Timestamp,
        problems: FormProblems = FormProblems(),
        confirmationInput: String = "",
        deletesBelow: Bool = false
    ) {
        self.subject = subject
        self.shownTime = shownTime
        self.problems = problems
        self.confirmationInput = confirmationInput
        self.deletesBelow = deletesBelow
        status = problems.isEmpty ? .ok : .unprocessableContent
        let segments = subject.segments
        heading = PathHeading(segments)
        layout = PageLayout(at: segments)
        layout.title = localized("Delete") + " · " + layout.title
    }

    /// Returns the page with the reason why the job could not be started.
    func withError(_ error: JobRunner.StartError) -> DeletePage {
        var page = self
        (page.problems, page.status) = (error.problems, error.status)
        return page
    }

    func content(named name: String) -> Any? {
        switch name {
        case "isDocument": if case .document = subject { true } else { false }
        case "isMissing": if case .document(_, let base, _) = subject { base.updateTime == nil } else { false }
        case "shownTime": shownTime.formValue
        case "damaged": DamagedFileList(estimate.damaged).orAbsent
        case "isCollection": if case .collection = subject { true } else { false }
        case "isMatching": if case .matching = subject { true } else { false }
        case "isSelection": if case .selection = subject { true } else { false }
        case "selectedDocuments": selectedDocuments
        case "selectionText":
            localized(count: selectedDocuments.count, one: "Delete {count} document?", other: "Delete {count} documents?")
        case "countText": estimate.text
        // The value of a form field, without digit grouping.
        case "matchCount": String(estimate.count)
        case "hasBelow": estimate.count > 0
        case "base": if case .document(_, let base, _) = subject { base.formValue } else { "" }
        case "below": FormField("below", "", problems: problems, isChecked: deletesBelow)
        case "confirmation": FormField("name", confirmationInput, problems: problems)
        case "expectedName": DisplayText(subject.segments.last?.string ?? "")
        case "action": subject.action
        case "returnURL": subject.url
        case "problems", "hasProblems", "isOneProblem": problems.child(named: name)
        default: heading.child(named: name)
        }
    }

    private var estimate: DocumentCountEstimate {
        switch subject {
        case .document(_, _, let below): below
        case .collection(_, let estimate), .matching(_, let estimate): estimate
        case .selection(_, _, let below): below
        }
    }

    private var selectedDocuments: [SelectedDocumentView] {
        guard case .selection(let targets, _, _) = subject else { return [] }
        return targets.map { SelectedDocumentView(target: $0) }
    }
}

extension DeletePage.Subject {
    fileprivate var segments: [UTF8Key] {
        switch self {
        case .document(let path, _, _): path.segments
        case .collection(let path, _), .selection(_, let path, _): path.segments
        case .matching(let request, _): request.path.segments
        }
    }

    fileprivate var url: String {
        switch self {
        case .document(let path, _, _): AdminURL.document(path)
        case .collection(let path, _), .selection(_, let path, _): AdminURL.collection(path)
        case .matching(let request, _): request.url()
        }
    }

    fileprivate var action: String {
        if case .matching(let request, _) = self { AdminURL.delete(matching: request) } else { url + "?delete" }
    }
}

/// A selected document: a link, and the version that the form carries.
private struct SelectedDocumentView: Sendable {
    let target: SelectedDocument
}

extension SelectedDocumentView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "link": LinkView(toRowOf: target.path)
        case "version": target.formValue
        default: nil
        }
    }
}
