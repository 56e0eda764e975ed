import HTTPTypes

/// The form for the name of a new collection. The collection is created with its first document.
struct NewCollectionPage: Page {
    static let template = TemplateLibrary.Name.newCollection

    var layout = PageLayout(title: localized("New collection"))
    let status: HTTPResponse.Status
    private let collection: FormField
    private let problemAlert: ProblemAlert?
    private let action = AdminURL.newCollection

    init(input: String = "", problems: FormProblems = FormProblems()) {
        status = problems.isEmpty ? .ok : .unprocessableContent
        collection = FormField("collection", input, problems: problems)
        problemAlert = ProblemAlert(problems)
    }
}
