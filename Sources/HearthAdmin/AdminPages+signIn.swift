import DocumentModel
import HTTPTypes
import HearthService
import Logging
import StrictJSON

extension AdminPages {
    /// How much of a form is read from somebody who has not signed in.
    static let unknownVisitorFormBytes = 256 << 10

    /// Asks to sign in, in place of a page; a form that was sent is kept on the page.
    func askToSignIn(for request: PageRequest) async -> PageResponse {
        guard request.method == .post else {
            return await ask(SignInPage(status: .unauthorized, next: ReturnAddress(UTF8Key(request.address))))
        }
        let fields = request.form.flatMap { Form($0) }?.items
            .filter { $0.name != FormToken.field }
            .map { FormField($0.name.string, $0.value.string) }
        let lost = LostForm(address: request.address, fields: fields)
        // Where it was sent to is a page too, if one without what was typed.
        return await ask(SignInPage(status: .unauthorized, next: ReturnAddress(UTF8Key(request.address)), lost: lost))
    }

    /// The page to sign in, and the form on it.
    func signIn(for request: PageRequest) async -> PageResponse {
        let query = request.items
        guard request.method == .post else {
            let next = ReturnAddress(query["next"])
            guard visit.visitor.isUnknown else { return .seeOther(next.url) }
            return await ask(SignInPage(status: .ok, next: next))
        }
        let form = request.form.flatMap { Form($0) } ?? .empty
        let next = ReturnAddress(form["next"])
        guard visit.token.isSent(by: form) else {
            let message =
                localized(
                    "The form has come without its cookie. If this happens again, allow cookies for this address: signing in needs one."
                )
            return await refuse(.forbidden, message, next: next)
        }
        guard request.isSecure || request.isLocal else {
            let message =
                localized(
                    "This page came without TLS, so others could read the key on its way. Put a proxy with TLS in front of the server, or come by localhost through a tunnel: ssh -L 8080:127.0.0.1:8080 SERVER"
                )
            return await refuse(.forbidden, message, next: next)
        }
        return await signIn(showing: form.text("key"), for: request, next: next)
    }

    private func signIn(showing key: String, for request: PageRequest, next: ReturnAddress) async -> PageResponse {
        let start = ContinuousClock.now
        do throws(AccessKeys.Refusal) {
            let (session, id) = try await context.sessions.begin(
                showing: Array(key.utf8),
                from: visit.visitor.network,
                isSecure: request.isSecure,
                failures: failures
            )
            // Another session of this browser would be of no more use.
            if let old = visit.visitor.session { try? context.sessions.end(old.name, by: old.caller) }
            logger.notice("Somebody has signed in", metadata: ["key.id": "\(session.caller.keyID ?? "none")"])
            return .seeOther(next.url, flash: .signedIn)
                .settingCookie(SessionCookie(id: id, isSecure: request.isSecure).field)
        } catch {
            // What is wrong with the key is nobody's business who doesn't have one, and neither is how long it took to see that.
            let wait = failures.note(from: visit.visitor.network)
            try? await Task.sleep(until: start + surroundings.signInTime)
            guard let wait else {
                return await refuse(
                    .forbidden,
                    localized("No key is like this one: it is mistyped, was revoked, or has expired."),
                    next: next
                )
            }
            let message = localized("There were too many attempts from your address. Wait a few seconds before the next one.")
            var response = await refuse(.tooManyRequests, message, next: next)
            response.headers[.retryAfter] = "\(wait.components.seconds + 1)"
            return response
        }
    }

    private func refuse(_ status: HTTPResponse.Status, _ message: String, next: ReturnAddress) async -> PageResponse {
        var problems = FormProblems()
        problems.add(message, at: "key")
        return await ask(SignInPage(status: status, next: next, problems: problems))
    }

    private func ask(_ page: SignInPage) async -> PageResponse {
        var response = await respond(with: page).settingCookie(visit.cookie)
        if page.status == .unauthorized { response.headers[.wwwAuthenticate] = #"Bearer realm="Hearth""# }
        return response
    }

    /// Ends the session of who asks.
    func signOut(for request: PageRequest) async -> PageResponse {
        guard request.method == .post else { return .seeOther(AdminURL.overview) }
        guard let form = request.form.flatMap({ Form($0) }), visit.token.isSent(by: form) else {
            return await respond(with: ProblemPage.unknownForm)
        }
        let response = PageResponse.seeOther(AdminURL.signIn, flash: .signedOut)
        guard let session = visit.visitor.session else { return response }
        try? context.sessions.end(session.name, by: session.caller)
        return response.settingCookie(SessionCookie.removal(isSecure: session.isSecure))
    }
}
