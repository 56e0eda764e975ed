import HTTPTypes
import UTF8Text

/// The sign-in page, shown at its own URL or in place of a page that requires sign-in.
struct SignInPage: Page {
    static let template = TemplateLibrary.Name.signIn

    var layout = PageLayout(title: localized("Sign in"))
    let status: HTTPResponse.Status
    private let action = AdminURL.signIn
    private let next: String
    private let problemAlert: ProblemAlert?
    private let pendingForm: PendingForm?
    /// False after sign-in, when only the pending form is left to submit.
    private let needsKey: Bool

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
        problemAlert = ProblemAlert(problems, takesFocus: false)
        self.pendingForm = pendingForm
        needsKey = true
    }

    /// Creates the page after sign-in, from which the user continues the pending form.
    init(continuing pendingForm: PendingForm, next: ReturnURL) {
        status = .ok
        self.next = next.url
        problemAlert = nil
        self.pendingForm = pendingForm
        needsKey = false
        layout.title = localized("Signed in")
    }
}

/// A submitted form that requires sign-in first. The sign-in form holds its fields, and the page after sign-in submits them again.
struct PendingForm: ViewModel {
    private let url: String
    private let isKept: Bool
    private let fields: [HiddenField]
    /// The fields as fields of the sign-in form.
    private let heldFields: [HiddenField]

    /// - Parameter fields: The fields; `nil` if the form exceeded the size limit and was discarded.
    init(url: String, fields: [(name: UTF8Key, value: UTF8Key)]?) {
        self.url = url
        isKept = fields != nil
        let fields = fields ?? []
        self.fields = fields.map { HiddenField(name: $0.name.string, value: $0.value.string) }
        heldFields =
            [HiddenField(name: Self.urlField.string, value: url)]
            + fields.map { HiddenField(name: Self.prefix + $0.name.string, value: $0.value.string) }
    }

    /// Reads the form that a sign-in form holds; returns `nil` if it holds none, or one for another site.
    init?(heldBy form: Form) {
        guard let url = form[Self.urlField], ReturnURL(url).url.utf8.elementsEqual(url.utf8) else { return nil }
        let fields = form.items.filter { $0.name.utf8.starts(with: Self.prefix.utf8) }.map { name, value in
            (name: UTF8Key(Substring(name.utf8.dropFirst(Self.prefix.utf8.count))), value: value)
        }
        self.init(url: url.string, fields: fields)
    }

    private static let urlField: UTF8Key = "held"
    private static let prefix = "held."
}
