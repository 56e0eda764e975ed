import DocumentModel
import HTTPTypes

/// What went wrong, and what can be done about it.
struct ProblemPage: Page {
    static let template = TemplateLibrary.Name.problem

    var chrome: PageChrome
    let status: HTTPResponse.Status
    private let heading: String
    /// What the pages say of it.
    private let advice: String?
    /// What the service says of it, in English.
    private let message: DisplayText?
    private let place: DisplayText?

    /// A problem in words of the pages.
    private init(status: HTTPResponse.Status, heading: String, advice: String) {
        self.status = status
        self.heading = heading
        self.advice = advice
        message = nil
        place = nil
        chrome = PageChrome(title: heading)
    }

    /// No page has the address.
    static var unknownAddress: ProblemPage {
        ProblemPage(status: .notFound, heading: localized("Nothing here"), advice: localized("No page has this address."))
    }

    /// The address can't be read.
    static var malformedAddress: ProblemPage {
        ProblemPage(
            status: .badRequest,
            heading: localized("This address can’t be right"),
            advice: localized("It isn’t percent-encoded UTF-8.")
        )
    }

    /// The address is asked with a method that isn't for looking.
    static var wrongMethod: ProblemPage {
        ProblemPage(
            status: .methodNotAllowed,
            heading: localized("Only to look at"),
            advice: localized("This address has nothing to send a form to. Programs change documents by POST /rpc.")
        )
    }

    /// A form of another page, or sent in another way than browsers do.
    static var unknownForm: ProblemPage {
        ProblemPage(
            status: .badRequest,
            heading: localized("This form can’t be read"),
            advice: localized("It isn’t one of this page, or wasn’t sent as browsers do. Programs call POST /rpc.")
        )
    }

    /// A form that holds too much.
    static var formTooLarge: ProblemPage {
        ProblemPage(
            status: .contentTooLarge,
            heading: localized("This form holds too much"),
            advice: localized("It is larger than the server takes at once. Programs can write large documents by POST /rpc.")
        )
    }

    /// An error of the service.
    init(_ error: StatusError) {
        status = HTTPResponse.Status(code: error.code.httpStatus)
        heading = Self.heading(for: error.code)
        advice = nil
        message = DisplayText(error.message)
        place = error.path.map { DisplayText($0) }
        chrome = PageChrome(title: heading)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "status": status.code
        case "heading": heading
        case "advice": advice.orAbsent
        case "message": message.orAbsent
        case "place": place.orAbsent
        default: nil
        }
    }

    private static func heading(for code: StatusCode) -> String {
        switch code {
        case .invalidArgument, .outOfRange: localized("This address can’t be right")
        case .notFound: localized("Nothing here")
        case .permissionDenied, .unauthenticated: localized("Not allowed")
        case .resourceExhausted, .unavailable, .deadlineExceeded: localized("Not now")
        default: localized("Something went wrong")
        }
    }
}
