import DocumentModel
import HTTPTypes
import UTF8Text

/// The confirmation page of a deletion, with the number of affected documents.
struct DeletePage: JobConfirmationPage {
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

    let layout: PageLayout
    var status: HTTPResponse.Status
    var problemAlert: ProblemAlert?
    private let name: DisplayText
    private let isDocument: Bool
    private let isCollection: Bool
    private let isMatching: Bool
    private let isSelection: Bool
    /// True if the document doesn't exist, but has subcollections.
    private let isMissing: Bool
    private let base: String
    /// The time of the last commit that the page reflects. The confirmation does not cover later writes.
    private let shownTime: String
    private let damaged: DamagedFileList?
    private let countText: String
    private let matchCount: Int
    private let selectionText: String
    private let selectedDocuments: [SelectedDocumentView]
    private let hasSubcollections: Bool
    private let below: FormField
    /// The name of the collection, which the user must type.
    private let expectedName: DisplayText
    private let confirmation: FormField
    private let action: String
    private let returnURL: String

    /// - Parameters:
    ///   - shownTime: The time of the last commit that the page reflects.
    ///   - confirmationInput: The typed name of the collection.
    init(
        _ subject: Subject,
        at shownTime: Timestamp,
        problems: FormProblems = FormProblems(),
        confirmationInput: String = "",
        deletesSubcollections: Bool = false
    ) {
        (isDocument, isCollection, isMatching, isSelection) =
            switch subject {
            case .document: (true, false, false, false)
            case .collection: (false, true, false, false)
            case .matching: (false, false, true, false)
            case .selection: (false, false, false, true)
            }
        status = problems.status
        problemAlert = ProblemAlert(problems)
        let segments = subject.segments
        name = DisplayText(segments.last?.string ?? "")
        expectedName = name
        isMissing = subject.base.map { $0.updateTime == nil } ?? false
        base = subject.base?.formValue ?? ""
        self.shownTime = shownTime.formValue
        let estimate = subject.estimate
        damaged = DamagedFileList(estimate.damaged)
        countText = estimate.text
        matchCount = estimate.count
        hasSubcollections = estimate.count > 0
        selectedDocuments = subject.selectedDocuments.map(SelectedDocumentView.init)
        selectionText = localized(
            count: selectedDocuments.count,
            one: "Delete {count} document?",
            other: "Delete {count} documents?"
        )
        below = FormField("below", "", problems: problems, isChecked: deletesSubcollections)
        confirmation = FormField("name", confirmationInput, problems: problems)
        action = subject.action
        returnURL = subject.url
        layout = PageLayout(at: segments, for: localized("Delete"))
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

    fileprivate var base: DocumentRevision? {
        if case .document(_, let base, _) = self { base } else { nil }
    }

    fileprivate var estimate: DocumentCountEstimate {
        switch self {
        case .document(_, _, let below): below
        case .collection(_, let estimate), .matching(_, let estimate): estimate
        case .selection(_, _, let below): below
        }
    }

    fileprivate var selectedDocuments: [SelectedDocument] {
        if case .selection(let documents, _, _) = self { documents } else { [] }
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

/// A selected document: a link, and the version that the form submits.
struct SelectedDocumentView: ViewModel {
    let link: LinkView
    let version: String

    init(_ document: SelectedDocument) {
        link = LinkView(toRowOf: document.path)
        version = document.formValue
    }
}
