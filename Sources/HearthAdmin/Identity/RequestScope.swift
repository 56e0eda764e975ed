import Cryptography
import HTTPTypes
import HearthAPI
import HearthHTTP
import UTF8Text

/// The per-request state that every page uses: principal, CSRF token and flash message.
struct RequestScope: Sendable {
    let principal: Principal
    let csrfToken: CSRFToken
    /// The ID that identifies a browser before sign-in; generated when the request has no such cookie.
    let browserID: UTF8Key
    /// The message about the previously submitted form.
    let flash: Flash?
    /// The path of the page, without query.
    let path: String

    private static let browserCookieName: UTF8Key = "browser"

    init(_ principal: Principal, path: String, cookies: Cookies, secret: SymmetricKey, nonce: () -> String) {
        self.principal = principal
        self.path = path
        browserID = cookies[Self.browserCookieName] ?? UTF8Key(nonce())
        flash = Flash(in: cookies)
        csrfToken = CSRFToken(for: principal.formOwner(browserID: browserID), secret: secret)
    }

    /// The `Set-Cookie` value that binds the sign-in form to the browser it was shown in.
    var browserCookie: String { "\(Self.browserCookieName)=\(browserID); Path=/; HttpOnly; SameSite=Strict" }
}
