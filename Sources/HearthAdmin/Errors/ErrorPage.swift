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
    /// The progress of the rebuild that the request must wait for.
    private let rebuild: RebuildProgressView?
    let retryDelay: Duration?

    /// Creates an error detected by the pages.
    private init(status: HTTPResponse.Status, heading: String, advice: String) {
        self.status = status
        statusCode = status.code
        self.heading = heading
        self.advice = advice
        message = nil
        path = nil
        rebuild = nil
        retryDelay = nil
        layout = PageLayout(title: heading)
    }

    /// No page has the requested URL.
    static var notFound: ErrorPage {
        ErrorPage(status: .notFound, heading: localized("Page not found"), advice: localized("No page has this URL."))
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

    /// A form from another page, or one that no browser would encode this way.
    static var invalidForm: ErrorPage {
        ErrorPage(
            status: .badRequest,
            heading: localized("Invalid form"),
            advice: localized("It isn’t a form from this page, or it wasn’t encoded by a browser. Programs use POST /rpc.")
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
        retryDelay = error.retryAfter
        if let progress = error.progress {
            heading = localized("The index is being rebuilt")
            advice = localized(
                "Filters, sorting and queries work again when it is complete. Documents can still be opened and edited."
            )
            (message, path) = (nil, nil)
            rebuild = RebuildProgressView(progress)
        } else {
            heading = Self.heading(for: error.code)
            advice = nil
            message = DisplayText(error.message)
            path = error.path.map { DisplayText($0) }
            rebuild = nil
        }
        layout = PageLayout(title: heading)
        layout.refreshes = rebuild != nil
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

/// The progress of a rebuild of the index.
struct RebuildProgressView: ViewModel {
    /// The number of documents read, and the number of all documents if it is known.
    private let documents: String
    private let percentage: Int?
    /// The completed part and the time left.
    private let estimate: String?

    init(_ progress: StatusError.Progress) {
        documents =
            if let total = progress.totalCount {
                localized(
                    "{done} of {total} documents",
                    ["done": NumberFormat.grouped(progress.completedCount), "total": NumberFormat.grouped(total)]
                )
            } else if progress.completedCount == 0 {
                localized("starting")
            } else {
                localized(count: progress.completedCount, one: "{count} document so far", other: "{count} documents so far")
            }
        percentage = progress.percentage
        estimate = progress.percentage.map { percentage in
            let percent = NumberFormat.grouped(percentage)
            guard let timeLeft = progress.timeLeft else { return localized("{percent}% complete", ["percent": percent]) }
            return localized(
                "{percent}% complete, about {duration} left",
                ["percent": percent, "duration": RelativeTime.text(of: timeLeft)]
            )
        }
    }
}
