import UTF8Text

/// The cookie that carries the ID of a browser's session.
///
/// Over TLS its name is `__Host-session`, which browsers accept and send only over TLS, and only for this host. Without TLS, on
/// the local machine, its name is `session`; it never carries the ID of a session that was started over TLS.
package struct SessionCookie: Sendable {
    package let id: String
    package let isSecure: Bool

    private static let secureName: UTF8Key = "__Host-session"
    private static let plainName: UTF8Key = "session"

    /// Creates the cookie of a session.
    package init(id: String, isSecure: Bool) {
        self.id = id
        self.isSecure = isSecure
    }

    /// Returns the session cookie of a request, or `nil` if there is none.
    package init?(in cookies: Cookies) {
        if let id = cookies[Self.secureName] {
            self.init(id: id.string, isSecure: true)
        } else if let id = cookies[Self.plainName] {
            self.init(id: id.string, isSecure: false)
        } else {
            return nil
        }
    }

    /// The value of the `Set-Cookie` header that sets the cookie. The cookie lasts until the browser is closed.
    package var headerValue: String {
        Self.name(isSecure).string + "=" + id + Self.attributes(isSecure)
    }

    /// Returns the value of the `Set-Cookie` header that deletes the cookie.
    package static func expired(isSecure: Bool) -> String {
        name(isSecure).string + "=; Max-Age=0" + attributes(isSecure)
    }

    private static func name(_ isSecure: Bool) -> UTF8Key {
        isSecure ? secureName : plainName
    }

    private static func attributes(_ isSecure: Bool) -> String {
        "; Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }
}
