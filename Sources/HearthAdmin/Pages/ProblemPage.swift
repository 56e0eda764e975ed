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
            advice: localized("Its path isn’t percent-encoded UTF-8.")
        )
    }

    /// The address is asked with a method that isn't for looking.
    static var wrongMethod: ProblemPage {
        ProblemPage(
            status: .methodNotAllowed,
            heading: localized("Only to look at"),
            advice: localized("Pages answer GET and HEAD. To change documents, call POST /rpc.")
        )
    }

    /// A form of another page, too large, or sent in another way than browsers do.
    static var unknownForm: ProblemPage {
        ProblemPage(
            status: .badRequest,
            heading: localized("This form can’t be read"),
            advice: localized(
                "Expected what a form of these pages sends, {limit} KiB at most. Programs call POST /rpc.",
                ["limit": Counting.grouped(TriedCall.maximumBytes >> 10)]
            )
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
