import Cryptography
import DocumentModel
import HTTPTypes
import HearthAPI
import HearthHTTP
import UTF8Text

/// A request to a page, with what a controller needs to respond to it: the caller's context, preferences and CSRF token.
struct AdminRequest: Sendable {
    /// The parts of the HTTP request.
    let http: PageRequest
    /// The service context of the caller in the database that the URL names.
    private(set) var context: ServiceContext
    let preferences: Preferences
    /// The per-request state that every page uses.
    let scope: RequestScope
    let environment: PageEnvironment

    /// Reads the state of a request.
    ///
    /// - Parameters:
    ///   - context: The system context of the default database.
    ///   - secret: The key from which CSRF tokens are derived.
    init(_ http: PageRequest, context: ServiceContext, environment: PageEnvironment, secret: SymmetricKey) {
        let cookies = Cookies(http.cookies)
        self.http = http
        self.context = context.withCaller(http.principal.caller)
        self.environment = environment.ofRequest(http.requestID)
        preferences = Preferences(cookies: cookies, acceptLanguage: http.acceptLanguage)
        scope = RequestScope(http.principal, path: http.path, cookies: cookies, secret: secret, nonce: environment.nonce)
    }

    /// Returns the request in another database.
    func inDatabase(_ database: DatabaseID) async throws(StatusError) -> AdminRequest {
        var request = self
        request.context = try await context.inDatabase(database)
        return request
    }

    var method: HTTPRequest.Method { http.method }
    var query: URLQuery { http.query }
    var principal: Principal { scope.principal }
    var now: Timestamp { environment.clock() }

    /// Returns the layout of a collection's table that the browser keeps.
    func tableLayout(of path: CollectionPath) -> TableLayout { TableLayout(of: path, in: Cookies(http.cookies)) }

    /// The owner of the forms, uploads and one-time secrets of the request.
    var formOwner: UTF8Key { principal.formOwner(browserID: scope.browserID) }
}
