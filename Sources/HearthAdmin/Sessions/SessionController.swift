import DocumentModel
import HTTPTypes
import HearthAPI
import HearthHTTP
import Logging
import UTF8Text

/// The controller for sign-in and sign-out.
struct SessionController {
    let request: AdminRequest
    /// Limits the rate of failed sign-ins from each network.
    let failedSignIns: FailedAttemptLimiter
    /// The minimum duration of a failed sign-in, so that its timing reveals nothing about the key.
    let failedSignInDuration: Duration
    let logger: Logger

    private var context: ServiceContext { request.context }

    /// The size limit for a form from a sender who has not signed in.
    static let formBytes = 256 << 10
    /// The size limit for the sign-in form, which holds such a form with longer names.
    static let signInFormBytes = 2 * formBytes

    /// Responds with 401 and the sign-in page. A submitted form is kept on that page, to be sent again after sign-in.
    func requireSignIn() async -> PageResponse {
        let next = ReturnURL(UTF8Key(request.http.pathAndQuery))
        guard request.method == .post else { return await signInResponse(SignInPage(status: .unauthorized, next: next)) }
        let fields = request.http.form.flatMap { Form($0) }?.items.filter { $0.name != CSRFToken.field }
        let pendingForm = PendingForm(url: request.http.pathAndQuery, fields: fields)
        return await signInResponse(SignInPage(status: .unauthorized, next: next, pendingForm: pendingForm))
    }

    /// Handles the sign-in page and its form.
    func signIn() async -> PageResponse {
        guard request.method == .post else {
            let next = ReturnURL(request.query["next"])
            guard request.principal.needsSignIn else { return .seeOther(next.url) }
            return await signInResponse(SignInPage(status: .ok, next: next))
        }
        let form = request.http.form.flatMap { Form($0) } ?? .empty
        let next = ReturnURL(form["next"])
        let pendingForm = PendingForm(heldBy: form)
        guard request.scope.csrfToken.matches(form) else {
            let message =
                localized(
                    "The form was sent without its cookie. If this happens again, allow cookies for this site: sign-in requires one."
                )
            return await rejectSignIn(.forbidden, message, next: next, pendingForm: pendingForm)
        }
        guard request.http.isSecure || request.http.isLoopback else {
            let message =
                localized(
                    "The connection doesn’t use TLS, so the key could be read in transit. Put a TLS proxy in front of the server, or connect to localhost through a tunnel: ssh -L 8080:127.0.0.1:8080 SERVER"
                )
            return await rejectSignIn(.forbidden, message, next: next, pendingForm: pendingForm)
        }
        return await signIn(with: form.text("key"), next: next, pendingForm: pendingForm)
    }

    private func signIn(with key: String, next: ReturnURL, pendingForm: PendingForm?) async -> PageResponse {
        let start = ContinuousClock.now
        do throws(APIKeyRegistry.AuthenticationError) {
            let (session, id) = try await context.sessions.start(
                with: Array(key.utf8),
                from: request.principal.network,
                isSecure: request.http.isSecure,
                failures: failedSignIns
            )
            // The new session replaces the browser's cookie, so the old session would be unreachable.
            if let old = request.principal.session { try? await context.sessions.end(old.name, by: old.caller) }
            await context.withCaller(session.caller).audit(.signIn)
            logger.notice("Signed in", metadata: ["key.id": "\(session.caller.keyID ?? "none")"])
            let cookie = SessionCookie(id: id, isSecure: request.http.isSecure).headerValue
            guard let pendingForm else { return .seeOther(next.url, flash: .signedIn).settingCookie(cookie) }
            // The user continues the form by hand, because another site may have submitted it.
            return await request.respond(with: SignInPage(continuing: pendingForm, next: next)).settingCookie(cookie)
        } catch {
            // Neither the message nor the duration reveals why the key was rejected.
            let retryDelay = failedSignIns.recordFailure(from: request.principal.network)
            // The limit bounds the size of the audit log, too.
            if retryDelay == nil { await context.audit(.signIn, error: StatusError(.unauthenticated, "")) }
            try? await Task.sleep(until: start + failedSignInDuration)
            guard let retryDelay else {
                let message = localized("The key is mistyped, revoked or expired.")
                return await rejectSignIn(.forbidden, message, next: next, pendingForm: pendingForm)
            }
            let message = localized("Too many failed attempts from your network. Wait a few seconds before you try again.")
            var response = await rejectSignIn(.tooManyRequests, message, next: next, pendingForm: pendingForm)
            response.headers[.retryAfter] = "\(retryDelay.components.seconds + 1)"
            return response
        }
    }

    private func rejectSignIn(
        _ status: HTTPResponse.Status,
        _ message: String,
        next: ReturnURL,
        pendingForm: PendingForm?
    ) async -> PageResponse {
        var problems = FormProblems()
        problems.add(message, at: "key")
        return await signInResponse(SignInPage(status: status, next: next, problems: problems, pendingForm: pendingForm))
    }

    private func signInResponse(_ page: SignInPage) async -> PageResponse {
        var response = await request.respond(with: page).settingCookie(request.scope.browserCookie)
        if page.status == .unauthorized { response.headers[.wwwAuthenticate] = #"Bearer realm="Hearth""# }
        return response
    }

    /// Handles the sign-out form: ends the session of the browser.
    func signOut() async -> PageResponse {
        guard request.method == .post else { return .seeOther(AdminURL.overview) }
        guard let form = request.http.form.flatMap({ Form($0) }), request.scope.csrfToken.matches(form) else {
            return await request.respond(with: ErrorPage.invalidForm)
        }
        let response = PageResponse.seeOther(AdminURL.signIn, flash: .signedOut)
        guard let session = request.principal.session else { return response }
        try? await context.sessions.end(session.name, by: session.caller)
        await context.audit(.signOut)
        return response.settingCookie(SessionCookie.expired(isSecure: session.isSecure))
    }
}
