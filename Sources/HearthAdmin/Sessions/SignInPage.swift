import DocumentModel
import HTTPTypes
import StrictJSON

/// The page that asks for a key: by its own address, or in place of a page that is not for everybody.
struct SignInPage: Page {
    static let template = TemplateLibrary.Name.signIn

    var chrome = PageChrome(title: localized("Sign in"))
    let status: HTTPResponse.Status
    private let next: ReturnAddress
    private let problems: FormProblems
    private let lost: LostForm?

    /// - Parameters:
    ///   - status: 401 in place of another page.
    ///   - next: Where to go afterwards.
    ///   - lost: A form that was sent without being signed in, or no longer.
    init(status: HTTPResponse.Status, next: ReturnAddress, problems: FormProblems = FormProblems(), lost: LostForm? = nil) {
        self.status = status
        self.next = next
        self.problems = problems
        self.lost = lost
    }

    func content(named name: String) -> Any? {
        switch name {
        case "action": AdminURL.signIn
        case "next": next.url
        case "lost": lost.orAbsent
        default: problems.child(named: name)
        }
    }
}

/// A form that came when its session was over: it is kept on the page, to be sent again.
struct LostForm: Sendable {
    let address: String
    /// What was typed; nil when it was too much to be kept.
    let fields: [FormField]?
}

extension LostForm: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "address": address
        case "fields": fields ?? []
        case "isKept": fields != nil
        default: nil
        }
    }
}
