import DocumentModel
import HTTPTypes
import HearthService
import Hummingbird
import Logging
import StrictJSON

/// Finds out who asks, by the key in `Authorization: Bearer KEY` or by the cookie of a browser that has signed in, and lets nobody
/// else pass once there are keys.
///
/// What a caller may do is up to the methods. The pages are asked for by everybody, ``Caller/nobody`` included, and ask who has
/// shown nothing to sign in. Whatever is no call, no stream, not their description and no page is for admins only. It stands before
/// anything that reads a request's body.
struct AuthenticationMiddleware: RouterMiddleware {
    let keys: AccessKeys
    let sessions: Sessions
    let failures: FailedAttempts

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        // Asked by those who watch over the server, and tells nothing of what is in it.
        if request.hasPath("/health") { return try await next(request, context) }
        var context = context
        if request.headers[.authorization] == nil, keys.areRequired, let session = session(of: request) {
            context.session = session
            context.caller = session.caller
        } else if request.headers[.authorization] == nil, keys.areRequired, request.isForPages {
            context.caller = .nobody
        } else {
            context.caller = try await caller(of: request, in: context)
        }
        try context.caller.checkMayAsk(for: request)
        return try await next(request, context)
    }

    /// The session whose cookie a browser shows. For calls and streams it counts only where one of this server's own pages asks, and
    /// the browser says so: the page of another site can have a browser send the cookie too.
    ///
    /// A page that follows what it shows, with nobody before it, does not keep the session.
    private func session(of request: Request) -> Session? {
        guard !request.isFirestoreCall, !(request.isOfService || request.isForStream) || request.isOfOwnPage else { return nil }
        guard let cookie = SessionCookie(in: Cookies(request.headers[values: .cookie])),
            let session = sessions.session(of: cookie.id.utf8, isUse: !request.isForStream)
        else { return nil }
        return session.isSecure == cookie.isSecure ? session : nil
    }

    private func caller(of request: Request, in context: HearthRequestContext) async throws(HTTPFailure) -> Caller {
        if !keys.areRequired {
            // Whoever shows a key may have made the first one a moment ago.
            guard let text = try? request.shownKey, AccessKeys.isKey(text) else { return .anybody }
            await keys.refresh()
        }
        let text = try request.shownKey
        do throws(AccessKeys.Refusal) {
            return try await keys.caller(showing: text, from: context.clientNetwork, failures: failures)
        } catch {
            throw refusal(error, in: context)
        }
    }

    private func refusal(_ refusal: AccessKeys.Refusal, in context: HearthRequestContext) -> HTTPFailure {
        if case .missing = refusal {
            return .unauthenticated("Every request needs a key: send the header Authorization: Bearer KEY.")
        }
        if let wait = failures.note(from: context.clientNetwork) { return .tooManyAttempts(wait) }
        let address = context.client?.text ?? ""
        switch refusal {
        case .expired(let id):
            context.requestLogger.notice(
                "A key was refused that has expired",
                metadata: ["key.id": "\(id)", "http.client": "\(address)"]
            )
            return .unauthenticated("The key has expired. Ask an admin for another one.", error: "invalid_token")
        case .missing, .unknown:
            context.requestLogger.notice("A key was refused that is not known", metadata: ["http.client": "\(address)"])
            return .unauthenticated("The key is not known here, or was revoked.", error: "invalid_token")
        }
    }
}

extension Request {
    /// The key in the header; nil when there is none.
    fileprivate var shownKey: [UInt8]? {
        get throws(HTTPFailure) {
            let fields = headers[values: .authorization]
            guard let field = fields.first else { return nil }
            guard fields.count == 1 else {
                throw HTTPFailure(.badRequest, .invalidArgument, "A request has at most one Authorization header.")
            }
            let scheme = field.utf8.prefix { $0 != UInt8(ascii: " ") }
            guard scheme.map(\.lowercased).elementsEqual("bearer".utf8) else {
                throw .unauthenticated("Expected the header Authorization: Bearer KEY, found another scheme than Bearer.")
            }
            return Array(field.utf8.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") })
        }
    }
}

extension Caller {
    fileprivate func checkMayAsk(for request: Request) throws(HTTPFailure) {
        guard !request.isOfService, !request.isForPages, keyID != nil, role < .admin else { return }
        throw HTTPFailure(
            .forbidden,
            .permissionDenied,
            "This needs a key with the role admin, and the key is one of a \(role.rawValue)."
        )
    }
}

extension HTTPFailure {
    /// - Parameter error: What RFC 6750 calls what is wrong with the key; nil when there was none.
    fileprivate static func unauthenticated(_ message: String, error: String? = nil) -> HTTPFailure {
        let challenge = #"Bearer realm="Hearth""# + (error.map { #", error="\#($0)""# } ?? "")
        return HTTPFailure(.unauthorized, .unauthenticated, message, headers: [.wwwAuthenticate: challenge])
    }

    fileprivate static func tooManyAttempts(_ wait: Duration) -> HTTPFailure {
        HTTPFailure(
            .tooManyRequests,
            .resourceExhausted,
            "Your address has shown too many keys that are not known here. Try again later, with a key that is.",
            headers: [.retryAfter: "\(wait.components.seconds + 1)"]
        )
    }
}
