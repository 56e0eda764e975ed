import DocumentModel
import HTTPTypes

/// What went wrong, and what can be done about it.
struct ProblemPage: Page {
    static let template = TemplateLibrary.Name.problem

    var chrome: PageChrome
    let status: HTTPResponse.Status
    private let heading: String
    private let message: DisplayText
    private let place: DisplayText?

    /// A problem in words of its own.
    private init(status: HTTPResponse.Status, heading: String, message: String) {
        self.status = status
        self.heading = heading
        self.message = DisplayText(message)
        place = nil
        chrome = PageChrome(title: heading)
    }

    /// No page has the address.
    static let unknownAddress = ProblemPage(status: .notFound, heading: "Nothing here", message: "No page has this address.")

    /// The address can't be read.
    static let malformedAddress = ProblemPage(
        status: .badRequest,
        heading: "This address can’t be right",
        message: "Its path isn’t percent-encoded UTF-8."
    )

    /// The address is asked with a method that isn't for looking.
    static let wrongMethod = ProblemPage(
        status: .methodNotAllowed,
        heading: "Only to look at",
        message: "Pages answer GET and HEAD. To change documents, call POST /rpc."
    )

    /// A form of another page, too large, or sent in another way than browsers do.
    static let unknownForm = ProblemPage(
        status: .badRequest,
        heading: "This form can’t be read",
        message:
            "Expected the name of a method and its parameters, \(TriedCall.maximumBytes >> 10) KiB at most. Programs call POST /rpc."
    )

    /// An error of the service.
    init(_ error: StatusError) {
        status = HTTPResponse.Status(code: error.code.httpStatus)
        heading = Self.heading(for: error.code)
        message = DisplayText(error.message)
        place = error.path.map { DisplayText($0) }
        chrome = PageChrome(title: heading)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "status": status.code
        case "heading": heading
        case "message": message
        case "place": place.orAbsent
        default: nil
        }
    }

    private static func heading(for code: StatusCode) -> String {
        switch code {
        case .invalidArgument, .outOfRange: "This address can’t be right"
        case .notFound: "Nothing here"
        case .permissionDenied, .unauthenticated: "Not allowed"
        case .resourceExhausted, .unavailable, .deadlineExceeded: "Not now"
        default: "Something went wrong"
        }
    }
}
