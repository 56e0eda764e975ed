import DocumentModel
import HTTPTypes
import HearthAPI

/// The page that asks before a key is revoked. It refuses to revoke the last admin key, after which nobody could create another
/// one without access to the server's machine.
struct RevokeKeyPage: Page {
    static let template = TemplateLibrary.Name.revokeKey

    var layout = PageLayout(title: localized("Revoke"))
    let status: HTTPResponse.Status
    private let action = AdminURL.keys
    private let problemAlert: ProblemAlert?
    private let key: KeyView
    private let isLastAdmin: Bool

    /// - Parameter isLastAdmin: Whether no other admin key is valid.
    init(_ key: APIKey, isCurrent: Bool, isLastAdmin: Bool, problems: FormProblems = FormProblems(), now: Timestamp) {
        self.key = KeyView(key, isCurrent: isCurrent, now: now)
        self.isLastAdmin = isLastAdmin
        problemAlert = ProblemAlert(problems)
        status = problems.status
    }
}
