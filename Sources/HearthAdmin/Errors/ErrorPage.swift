import DocumentModel
import HTTPTypes

/// An error with advice on how to resolve it.
struct ErrorPage: Page {
    static let template = TemplateLibrary.Name.errorPage

    var layout: PageLayout
    let status: HTTPResponse.Status
    private let statusCode: Int
    private let heading: String
    /// Localized advice.
    private let advice: String?
    /// The error message of the service, in English.
    private let message: DisplayText?
    private let path: DisplayText?

    /// Creates an error detected by the pages.
    private init(status: HTTPResponse.Status, heading: String, advice: String) {
        self.status = status
        statusCode = status.code
        self.heading = heading
        self.advice = advice
        message = nil
        path = nil
        layout = PageLayout(title: heading)
    }

    /// No page has the requested URL.
    static var notFound: ErrorPage {
        ErrorPage(status: .notFound, heading: localized("Not found"), advice: localized("No page has this URL."))
    }

    /// The URL is malformed.
    static var malformedURL: ErrorPage {
        ErrorPage(
            status: .badRequest,
            heading: localized("Invalid URL"),
            advice: localized("The URL isn’t valid percent-encoded UTF-8.")
        )
    }

    /// The URL doesn't support the request's method.
    static var methodNotAllowed: ErrorPage {
        ErrorPage(
            status: .methodNotAllowed,
            heading: localized("Method not allowed"),
            advice: localized("This URL doesn’t accept forms. To change documents programmatically, use POST /rpc.")
        )
    }

    /// A form of another page, or one that no browser would encode this way.
    static var invalidForm: ErrorPage {
        ErrorPage(
            status: .badRequest,
            heading: localized("Invalid form"),
            advice: localized("It isn’t a form of this page, or it wasn’t encoded by a browser. Programs use POST /rpc.")
        )
    }

    /// A form that exceeds the size limit.
    static var formTooLarge: ErrorPage {
        ErrorPage(
            status: .contentTooLarge,
            heading: localized("Form too large"),
            advice: localized("It exceeds the server’s size limit. Programs can write large documents with POST /rpc.")
        )
    }

    /// Creates the page of a service error.
    init(_ error: StatusError) {
        status = HTTPResponse.Status(code: error.code.httpStatus)
        statusCode = status.code
        heading = Self.heading(for: error.code)
        advice = nil
        message = DisplayText(error.message)
        path = error.path.map { DisplayText($0) }
        layout = PageLayout(title: heading)
    }

    private static func heading(for code: StatusCode) -> String {
        switch code {
        case .invalidArgument, .outOfRange: localized("Invalid URL")
        case .notFound: localized("Not found")
        case .permissionDenied, .unauthenticated: localized("Permission denied")
        case .resourceExhausted, .unavailable, .deadlineExceeded: localized("Temporarily unavailable")
        default: localized("Something went wrong")
        }
    }
}
