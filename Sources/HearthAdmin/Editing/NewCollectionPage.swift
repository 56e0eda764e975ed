import HTTPTypes

/// Asks for the name of a new collection, which then begins with its first document.
struct NewCollectionPage: Page {
    static let template = TemplateLibrary.Name.newCollection

    var chrome = PageChrome(title: localized("New collection"))
    let status: HTTPResponse.Status
    private let collection: FormField
    private let problems: FormProblems

    init(typed: String = "", problems: FormProblems = FormProblems()) {
        status = problems.isEmpty ? .ok : .unprocessableContent
        collection = FormField("collection", typed, problems: problems)
        self.problems = problems
    }

    func content(named name: String) -> Any? {
        switch name {
        case "collection": collection
        case "action": AdminURL.newCollection
        default: problems.child(named: name)
        }
    }
}
