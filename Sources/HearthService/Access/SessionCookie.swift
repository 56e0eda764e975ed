package import StrictJSON

/// The cookie by which a browser shows its session.
///
/// By TLS it is `__Host-session`, which a browser takes from and sends to this very host by TLS only. On this machine itself, without
/// TLS, it is `session`, whose ID a session that was begun by TLS never has.
package struct SessionCookie: Sendable {
    package let id: String
    package let isSecure: Bool

    private static let secureName: UTF8Key = "__Host-session"
    private static let plainName: UTF8Key = "session"

    /// The cookie of a session.
    package init(id: String, isSecure: Bool) {
        self.id = id
        self.isSecure = isSecure
    }

    /// Takes the cookie from what a browser sends; nil when it is not there.
    package init?(in cookies: Cookies) {
        if let id = cookies[Self.secureName] {
            self.init(id: id.string, isSecure: true)
        } else if let id = cookies[Self.plainName] {
            self.init(id: id.string, isSecure: false)
        } else {
            return nil
        }
    }

    /// What a response sets to give the session to a browser. It lasts until the browser is closed.
    package var field: String {
        Self.name(isSecure).string + "=" + id + Self.attributes(isSecure)
    }

    /// What a response sets to take a session from a browser.
    package static func removal(isSecure: Bool) -> String {
        name(isSecure).string + "=; Max-Age=0" + attributes(isSecure)
    }

    private static func name(_ isSecure: Bool) -> UTF8Key {
        isSecure ? secureName : plainName
    }

    private static func attributes(_ isSecure: Bool) -> String {
        "; Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
    }
}

/// The cookies that a browser sends, the values as they are.
package struct Cookies: Sendable {
    private let values: [UTF8Key: UTF8Key]

    /// Reads the fields `Cookie` of a request; of two with the same name the first counts.
    package init(_ fields: [String]) {
        var values: [UTF8Key: UTF8Key] = [:]
        for field in fields {
            for part in field.utf8.split(separator: UInt8(ascii: ";")) {
                let cookie = part.drop { $0 == UInt8(ascii: " ") }
                guard let equals = cookie.firstIndex(of: UInt8(ascii: "=")) else { continue }
                let name = UTF8Key(Substring(cookie[..<equals]))
                if values[name] == nil { values[name] = UTF8Key(Substring(cookie[cookie.index(after: equals)...])) }
            }
        }
        self.values = values
    }

    /// The value of a cookie.
    package subscript(_ name: UTF8Key) -> UTF8Key? { values[name] }
}
