import DocumentModel
import HTTPTypes

/// The sign-in page, shown at its own URL or in place of a page that requires sign-in.
struct SignInPage: Page {
    static let template = TemplateLibrary.Name.signIn

    var layout = PageLayout(title: localized("Sign in"))
    let status: HTTPResponse.Status
    private let next: ReturnURL
    private let problems: FormProblems
    private let pendingForm: PendingForm?

    /// - Parameters:
    ///   - status: 401 when the page is shown in place of another page.
    ///   - next: The page to go to after sign-in.
    ///   - pendingForm: A form that was submitted without a session or after its session had ended.
    init(
        status: HTTPResponse.Status,
        next: ReturnURL,
        problems: FormProblems = FormProblems(),
        pendingForm: PendingForm? = nil
    ) {
        self.status = status
        self.next = next
        self.problems = problems
        self.pendingForm = pendingForm
    }

    func content(named name: String) -> Any? {
        switch name {
        case "action": AdminURL.signIn
        case "next": next.url
        case "pendingForm": pendingForm.orAbsent
        default: problems.child(named: name)
        }
    }
}

/// A submitted form that requires sign-in first. The sign-in page keeps its fields, to be sent again.
struct PendingForm: Sendable {
    let url: String
    /// The fields; nil when the form exceeded the size limit and was discarded.
    let fields: [FormField]?
}

extension PendingForm: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": url
        case "fields": fields ?? []
        case "isKept": fields != nil
        default: nil
        }
    }
}
