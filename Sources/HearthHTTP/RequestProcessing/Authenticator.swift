import DocumentModel
import DocumentStore
import HTTPTypes
package import HearthAPI
import HummingbirdCore
import IdentityTokens
import Logging
import PrometheusMetrics

/// Authenticates the callers of requests: by the key or the ID token in `Authorization: Bearer …`, or by a browser's session cookie.
package struct Authenticator: Sendable {
    package let keys: APIKeyRegistry
    let endUsers: EndUserAuthenticator
    let rules: RulesRegistry
    let sessions: SessionRegistry
    let failedAttempts: FailedAttemptLimiter
    let metrics: AccessMetrics

    /// Sets the caller of a request in its context, before anything reads the body. The route's ``RoutePolicy/access`` says whether
    /// its handler authorizes the caller.
    ///
    /// - Throws: ``HTTPFailure``: 401 without valid credentials when keys are required, 403 without the role of the route and for
    ///   end users where the route is not open to them, 429 after too many unknown keys.
    func authenticate(_ request: Request, in context: inout HearthRequestContext) async throws(HTTPFailure) {
        let policy = context.route.policy
        if policy.access == .open { return }
        let isAuthorized = request.headers.contains(.authorization)
        if !isAuthorized, keys.requiresKeys, let session = await session(of: request, by: policy) {
            context.session = session
            context.caller = session.caller
        } else if !isAuthorized, keys.requiresKeys, policy.access == .signIn {
            context.caller = .unauthenticated
        } else {
            context.caller = try await caller(of: request.headers[values: .authorization], in: context)
        }
        if policy.access == .admin { try context.caller.checkIsAdmin() }
    }

    /// Sets the caller of a request by the `Authorization` fields in its body, for routes with ``RoutePolicy/Access/open``.
    ///
    /// - Throws: ``HTTPFailure``, as for the fields of a head.
    package func authenticate(
        _ fields: [String],
        in context: inout HearthRequestContext
    ) async throws(HTTPFailure) {
        context.caller = try await caller(of: fields, in: context)
    }

    /// The bearer token of the owner of a server in emulator mode.
    private static let emulatorOwner = "owner"

    /// Returns the session of the request's cookie if the policy accepts it. For streams it is valid only with
    /// `Sec-Fetch-Site: same-origin`.
    ///
    /// The updates of an open page don't count as use of the session, so they don't prolong it: its stream, and what it requests
    /// with the header `Hearth-Refresh`.
    private func session(of request: Request, by policy: RoutePolicy) async -> Session? {
        let isStream = policy.isStream || request.acceptsServerSentEvents
        guard policy.sessionCookies != .ignored,
            policy.sessionCookies == .accepted && !isStream || request.isSameOrigin
        else { return nil }
        guard let cookie = SessionCookie(in: Cookies(request.headers[values: .cookie])),
            let session = await sessions.sharedSession(withID: cookie.id.utf8, countsAsUse: !isStream && !request.isRefresh)
        else { return nil }
        return session.isSecure == cookie.isSecure ? session : nil
    }

    /// - Parameter fields: The values of the `Authorization` fields.
    private func caller(of fields: [String], in context: HearthRequestContext) async throws(HTTPFailure) -> Caller {
        do throws(HTTPFailure) {
            return try await authenticatedCaller(of: fields, in: context)
        } catch {
            if error.status.code < 500 { metrics.authenticationFailures.increment() }
            throw error
        }
    }

    private func authenticatedCaller(
        of fields: [String],
        in context: HearthRequestContext
    ) async throws(HTTPFailure) -> Caller {
        let isOpen = context.route.policy.isOpenToEndUsers
        if endUsers.acceptsUnsignedTokens { return try await emulatorCaller(of: fields, isOpen: isOpen, in: context) }
        if !keys.requiresKeys {
            // The first key may just have been created.
            guard let text = try? fields.bearerToken, APIKeyRegistry.isKey(text) else { return .openAccess }
            await keys.refresh()
        }
        if isOpen, fields.count == 1, let last = context.lastIDToken,
            let caller = endUsers.caller(of: last, in: fields[0], at: .current())
        {
            return caller
        }
        let text = try fields.bearerToken
        if text == nil, isOpen, rules.hasRules { return .anonymous }
        if let text, endUsers.authority != nil, TokenAuthority.isToken(text) {
            guard isOpen else { throw .closedToEndUsers }
            return try await endUser(of: text, in: fields[0], context)
        }
        return try await holder(of: text, in: context)
    }

    /// Returns the caller of a server in emulator mode, which listens on this machine only.
    private func emulatorCaller(
        of fields: [String],
        isOpen: Bool,
        in context: HearthRequestContext
    ) async throws(HTTPFailure) -> Caller {
        // Pages and administration need no credentials there.
        guard let text = try fields.bearerToken else { return isOpen ? .anonymous : .emulatorOwner }
        if text.elementsEqual(Self.emulatorOwner.utf8) { return .emulatorOwner }
        if APIKeyRegistry.isKey(text), keys.requiresKeys { return try await holder(of: text, in: context) }
        guard TokenAuthority.isToken(text) else {
            throw HTTPFailure(
                .badRequest,
                .invalidArgument,
                "Expected an ID token, signed or not, an API key, or owner, in the header Authorization: Bearer …."
            )
        }
        guard isOpen else { throw .closedToEndUsers }
        return try await endUser(of: text, in: fields[0], context)
    }

    /// Returns the end user with an ID token.
    private func endUser(
        of token: [UInt8],
        in authorization: String,
        _ context: HearthRequestContext
    ) async throws(HTTPFailure) -> Caller {
        do throws(TokenError) {
            return try await endUsers.authenticate(token, in: authorization, replacing: context.lastIDToken, at: .current())
        } catch {
            let address = context.client?.text ?? ""
            if error.isTemporary { throw HTTPFailure(.serviceUnavailable, .unavailable, "\(error)", headers: [.retryAfter: "5"]) }
            guard !error.isExpired else {
                throw .unauthenticated("\(error)", error: "invalid_token").ofCredentials(.expiredToken)
            }
            if let wait = failedAttempts.recordFailure(from: context.clientNetwork) { throw .tooManyAttempts(wait) }
            context.requestLogger.notice(
                "Rejected an ID token",
                metadata: ["error": "\(error)", "client.address": "\(address)"]
            )
            guard !endUsers.acceptsUnsignedTokens else { throw HTTPFailure(.badRequest, .invalidArgument, "\(error)") }
            throw .unauthenticated("\(error)", error: "invalid_token")
        }
    }

    /// Returns the holder of a key.
    private func holder(of text: [UInt8]?, in context: HearthRequestContext) async throws(HTTPFailure) -> Caller {
        do throws(APIKeyRegistry.AuthenticationError) {
            return try await keys.authenticate(text, from: context.clientNetwork, failures: failedAttempts)
        } catch {
            throw failure(for: error, in: context)
        }
    }

    private func failure(for error: APIKeyRegistry.AuthenticationError, in context: HearthRequestContext) -> HTTPFailure {
        if case .missing = error {
            return .unauthenticated("An API key is required. Send the header Authorization: Bearer KEY.")
        }
        if let wait = failedAttempts.recordFailure(from: context.clientNetwork) { return .tooManyAttempts(wait) }
        let address = context.client?.text ?? ""
        switch error {
        case .expired(let id):
            context.requestLogger.notice(
                "Rejected an expired key",
                metadata: ["key.id": "\(id)", "client.address": "\(address)"]
            )
            return .unauthenticated("The API key has expired. Ask an admin for a new one.", error: "invalid_token")
        case .missing, .unknown:
            context.requestLogger.notice("Rejected an unknown API key", metadata: ["client.address": "\(address)"])
            return .unauthenticated("The API key is unknown or was revoked.", error: "invalid_token")
        }
    }
}

extension [String] {
    /// The key or token in the `Authorization` fields; `nil` without one.
    fileprivate var bearerToken: [UInt8]? {
        get throws(HTTPFailure) {
            guard let field = first else { return nil }
            guard count == 1 else {
                throw HTTPFailure(.badRequest, .invalidArgument, "The request has several Authorization headers.")
            }
            let scheme = field.utf8.prefix { $0 != UInt8(ascii: " ") }
            guard scheme.map(\.lowercased).elementsEqual("bearer".utf8) else {
                throw .unauthenticated("Unsupported authentication scheme. Send the header Authorization: Bearer KEY.")
            }
            return [UInt8](field.utf8.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") })
        }
    }
}

extension Request {
    /// True for the update of an open page, which its user has not asked for.
    fileprivate var isRefresh: Bool { headers.contains(.hearthRefresh) }
}

extension Caller {
    fileprivate func checkIsAdmin() throws(HTTPFailure) {
        guard keyID != nil, role < .admin else { return }
        throw HTTPFailure(
            .forbidden,
            .permissionDenied,
            "This path requires the role admin; the key has the role \(role.rawValue)."
        )
    }
}

extension HTTPFailure {
    /// Returns a 401 failure.
    ///
    /// - Parameter error: The RFC 6750 error code; `nil` for a request without a key.
    fileprivate static func unauthenticated(_ message: String, error: String? = nil) -> HTTPFailure {
        let challenge = #"Bearer realm="Hearth""# + (error.map { #", error="\#($0)""# } ?? "")
        return HTTPFailure(.unauthorized, .unauthenticated, message, headers: [.wwwAuthenticate: challenge]).ofCredentials()
    }

    /// The failure for end users of a route that is not open to them.
    fileprivate static var closedToEndUsers: HTTPFailure {
        HTTPFailure(.forbidden, .permissionDenied, "This path requires an API key. It is not open to end users.").ofCredentials()
    }

    fileprivate static func tooManyAttempts(_ wait: Duration) -> HTTPFailure {
        HTTPFailure(
            .tooManyRequests,
            .resourceExhausted,
            "Too many requests with unknown API keys or invalid tokens from your network. Retry later with a valid one.",
            headers: [.retryAfter: "\(wait.components.seconds + 1)"]
        ).ofCredentials()
    }
}
