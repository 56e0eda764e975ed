import HTTPTypes

/// The sign-in page, shown at its own URL or in place of a page that requires sign-in.
struct SignInPage: Page {
    static let template = TemplateLibrary.Name.signIn

    var layout = PageLayout(title: localized("Sign in"))
    let status: HTTPResponse.Status
    private let action = AdminURL.signIn
    private let next: String
    private let problemAlert: ProblemAlert?
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
        self.next = next.url
        problemAlert = ProblemAlert(problems)
        self.pendingForm = pendingForm
    }
}

/// A submitted form that requires sign-in first. The sign-in page keeps its fields, to be sent again.
struct PendingForm: ViewModel {
    private let url: String
    private let isKept: Bool
    private let fields: [HiddenField]

    /// - Parameter fields: The fields; `nil` if the form exceeded the size limit and was discarded.
    init(url: String, fields: [HiddenField]?) {
        self.url = url
        isKept = fields != nil
        self.fields = fields ?? []
    }
}
