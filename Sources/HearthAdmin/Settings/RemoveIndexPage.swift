import HTTPTypes
import HearthAPI

/// The page that asks before a composite index is removed.
struct RemoveIndexPage: Page {
    static let template = TemplateLibrary.Name.removeIndex

    var layout = PageLayout(title: localized("Remove"))
    let status: HTTPResponse.Status
    private let action = AdminURL.settings
    private let problemAlert: ProblemAlert?
    private let index: IndexView

    init(_ index: IndexView, problems: FormProblems = FormProblems()) {
        self.index = index
        problemAlert = ProblemAlert(problems)
        status = problems.status
    }
}
