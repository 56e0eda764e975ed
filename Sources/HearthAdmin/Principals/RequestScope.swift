import Crypto
import HTTPTypes
import HearthAPI
import UTF8Text

/// The state of one request that all pages share: principal, CSRF token and flash message.
struct RequestScope: Sendable {
    var principal = Principal(caller: .system)
    var csrfToken = CSRFToken(for: "", secret: SymmetricKey(size: .bits256))
    /// The ID that identifies a browser before sign-in; generated when the request has no such cookie.
    var browserID: UTF8Key = ""
    /// The message about the form that was submitted before.
    var flash: Flash?
    /// The path of the page, without query.
    var path = ""

    private static let browserCookieName: UTF8Key = "browser"

    init() {}

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
