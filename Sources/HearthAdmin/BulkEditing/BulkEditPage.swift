import DocumentModel
import HTTPTypes
import UTF8Text

/// The form that sets or removes a field of many documents.
struct BulkEditPage: JobConfirmationPage {
    static let template = TemplateLibrary.Name.bulkEdit

    /// The documents to change.
    enum Subject: Sendable {
        /// The documents of a collection, or those that match its filters.
        case matching(CollectionRequest, DocumentCountEstimate)
        /// Selected rows of a table.
        case selection([SelectedDocument], in: CollectionPath)
    }

    let layout: PageLayout
    var status: HTTPResponse.Status
    var problemAlert: ProblemAlert?
    private let name: DisplayText
    private let countText: String
    private let isSelection: Bool
    private let selectedDocuments: [SelectedDocumentView]
    /// The number of documents that the form confirms.
    private let matchCount: Int
    /// The time of the last commit that the page reflects.
    private let shownTime: String
    private let fieldName: FormField
    private let knownFieldsMarkup: Markup
    private let removes: Bool
    private let typesMarkup: Markup
    private let value: FormField
    private let action: String
    private let returnURL: String

    /// - Parameters:
    ///   - shownTime: The time of the last commit that the page reflects.
    ///   - fields: The suggested fields.
    init(
        _ subject: Subject,
        at shownTime: Timestamp,
        fields: [FieldPath],
        input: FieldChangeInput = FieldChangeInput(),
        problems: FormProblems = FormProblems()
    ) {
        status = problems.status
        problemAlert = ProblemAlert(problems)
        let path: CollectionPath
        switch subject {
        case .matching(let request, let estimate):
            path = request.path
            (isSelection, selectedDocuments, matchCount) = (false, [], estimate.count)
            countText = estimate.text
            (action, returnURL) = (AdminURL.edit(matching: request), request.url())
        case .selection(let documents, let collection):
            path = collection
            (isSelection, selectedDocuments, matchCount) = (true, documents.map(SelectedDocumentView.init), documents.count)
            countText = localized(count: documents.count, one: "{count} document", other: "{count} documents")
            (action, returnURL) = (AdminURL.collection(collection) + "?edit", AdminURL.collection(collection))
        }
        name = DisplayText(path.id.key.string)
        self.shownTime = shownTime.formValue
        fieldName = FormField("field", input.field, problems: problems)
        knownFieldsMarkup = fields.map { FormOption(FieldPathText.text($0), "", isSelected: false) }.optionsMarkup
        removes = input.removes
        typesMarkup =
            ValueInput.Kind.allCases.map { FormOption($0.rawValue, $0.name, isSelected: $0 == input.value.kind) }.optionsMarkup
        value = FormField("v", input.value.text, problems: problems)
        layout = PageLayout(at: path.segments, for: localized("Edit documents"))
    }
}
