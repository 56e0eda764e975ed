package import HTTPTypes

/// The rules for requests to a route, checked before its handler is called: who may send them, from which origins, with which
/// bodies, and the format of its errors.
///
/// Enforced by ``RequestResponder``. The defaults apply to unlisted paths: admins only.
package struct RoutePolicy: Sendable {
    /// The callers that may use the route.
    package var access = Access.admin
    /// True if end users may use the route, on which rules decide about all that they do.
    package var isOpenToEndUsers = false
    /// The requests whose session cookie authenticates the caller.
    package var sessionCookies = SessionCookies.accepted
    /// The pages that may make requests.
    package var origins = OriginRules()
    /// True if programs on this machine may use any `Host`.
    package var allowsAnyLocalHost = false
    /// The limits and formats of request bodies.
    package var body = BodyRules()
    /// The format of the bodies of error responses.
    package var errorFormat = ErrorFormat.json
    /// True if the responses are streams, which don't count as use of a browser's session.
    package var isStream = false
    /// True if each request counts as a call, the rate of which is limited per address and per key.
    package var countsAsCall = false
    /// True if requests whose bodies came with their heads are processed on the event loop of their connection, without a change of
    /// threads. Blocking or long work moves to other threads.
    package var runsOnEventLoop = false

    package init() {}

    /// The policy of an API: called by programs, which authenticate with a key, or by scripts of the server's own pages. Its methods
    /// authorize their callers.
    package static var api: RoutePolicy {
        var policy = RoutePolicy()
        policy.access = .authenticated
        policy.countsAsCall = true
        policy.runsOnEventLoop = true
        policy.sessionCookies = .sameOrigin
        policy.origins = OriginRules(crossOrigin: .standard, allowsLinks: false, forms: .none)
        return policy
    }
}

extension RoutePolicy {
    /// The callers that may use a route.
    package enum Access: Sendable {
        /// Anyone; credentials are not read.
        case open
        /// Everyone with valid credentials; the handler authorizes the caller.
        case authenticated
        /// Like ``authenticated``, but also accepts requests without credentials, for which the handler offers to sign in.
        case signIn
        /// Admins only.
        case admin
    }

    /// The conditions under which a browser's session cookie authenticates the caller.
    package enum SessionCookies: Sendable {
        case ignored
        /// Only with `Sec-Fetch-Site: same-origin`, because a page of another site can make a browser send the cookie too.
        case sameOrigin
        case accepted
    }

    /// The pages that may make requests.
    package struct OriginRules: Sendable {
        /// The requests that scripts of the allowed origins may send; `nil` if only the server's own pages may make requests.
        package var crossOrigin: CrossOriginRules?
        /// True if pages of other sites may link to the route and load it, which browsers do without an `Origin`.
        package var allowsLinks: Bool
        /// The senders of HTML forms that must prove that their page is same-origin.
        package var forms: FormRule

        package init(crossOrigin: CrossOriginRules? = nil, allowsLinks: Bool = true, forms: FormRule = .fromPages) {
            self.crossOrigin = crossOrigin
            self.allowsLinks = allowsLinks
            self.forms = forms
        }
    }

    /// The senders of a POST that an HTML form could have sent, too, who must prove that their page is same-origin, by `Origin` or
    /// `Sec-Fetch-Site`. A page of any site can make a browser submit a form.
    package enum FormRule: Sendable {
        /// None: forms cannot send the media type of an API.
        case none
        /// Browsers, which always have a user agent that begins with `Mozilla/`. Programs have neither header.
        case fromBrowsers
        /// All: the route is for pages.
        case fromPages
    }

    /// The requests that scripts of the allowed origins may send, as the response to a preflight request lists them.
    package struct CrossOriginRules: Sendable {
        let methods: String
        /// The allowed headers; `nil` for any that a preflight request asks for.
        let requestHeaders: String?
        /// The response headers that scripts may read.
        let responseHeaders: String
        /// True if scripts may send requests with the browser's credentials, as the official Web SDK always does. Only for routes
        /// that ignore cookies.
        let allowsCredentials: Bool

        package init(
            methods: String,
            requestHeaders: String?,
            responseHeaders: String = "ETag, Hearth-Age, Retry-After, WWW-Authenticate, X-Request-Id",
            allowsCredentials: Bool = false
        ) {
            self.methods = methods
            self.requestHeaders = requestHeaders
            self.responseHeaders = responseHeaders
            self.allowsCredentials = allowsCredentials
        }

        /// Creates the rules for requests of the official Web SDK.
        package static func firestore(methods: String) -> CrossOriginRules {
            CrossOriginRules(
                methods: methods,
                requestHeaders: nil,
                responseHeaders: "ETag, Retry-After, WWW-Authenticate, X-Request-Id, X-Client-Wire-Protocol, X-HTTP-Session-Id, "
                    + "X-HTTP-Initial-Response",
                allowsCredentials: true
            )
        }

        package static let standard = CrossOriginRules(
            methods: "GET, HEAD, POST",
            requestHeaders: "Authorization, Content-Type, Accept, Hearth-Max-Age, Last-Event-ID, If-None-Match"
        )
    }

    /// The bodies of requests.
    package struct BodyRules: Sendable {
        /// The maximum size of a JSON body.
        package var maximumBytes = 0
        /// The headers that allow JSON to have the type `text/plain`. An HTML form cannot send any of them.
        package var headersAllowingText: [HTTPField.Name] = []
        /// The maximum memory for a multipart form, whose files are written to disk as they arrive; `nil` if a route doesn't
        /// receive files.
        package var fileBufferBytes: Int?
        /// True if the handler reads the body part by part, possibly while it writes the response, and reserves the memory for what it
        /// retains, in ``ServerResources/bodyBudget``.
        package var isStreamed = false

        package init(maximumBytes: Int = 0, headersAllowingText: [HTTPField.Name] = [], fileBufferBytes: Int? = nil) {
            self.maximumBytes = maximumBytes
            self.headersAllowingText = headersAllowingText
            self.fileBufferBytes = fileBufferBytes
        }
    }
}
