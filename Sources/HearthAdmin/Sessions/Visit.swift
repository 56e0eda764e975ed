import Crypto
import DocumentModel
import HTTPTypes
import HearthService
import StrictJSON

/// One request for a page, as far as all pages look at it.
struct Visit: Sendable {
    var visitor = Visitor(caller: .program)
    /// The word that the forms of this visitor's pages send along.
    var token = FormToken(for: "", secret: SymmetricKey(size: .bits256))
    /// What a browser that has not signed in is told apart by; made anew when it has nothing of the kind.
    var browser: UTF8Key = ""
    /// What was done by the form before; said once.
    var flash: Flash?
    /// The path of the page, without query.
    var path = ""

    private static let browserCookie: UTF8Key = "browser"

    init() {}

    init(_ request: AdminPages.PageRequest, secret: SymmetricKey, nonce: () -> String) {
        visitor = request.visitor
        path = request.path
        let cookies = Cookies(request.cookies)
        browser = cookies[Self.browserCookie] ?? UTF8Key(nonce())
        flash = Flash(in: cookies)
        token = FormToken(for: visitor.formName(browser: browser), secret: secret)
    }

    /// What a response sets so that forms for signing in come from the browser that they were shown in.
    var cookie: String { "\(Self.browserCookie)=\(browser); Path=/; HttpOnly; SameSite=Strict" }
}

extension AdminPages.PageRequest {
    /// Whether the browser speaks TLS, by what it says of the page that the form is on.
    var isSecure: Bool {
        (origin ?? "").utf8.starts(with: "https://".utf8)
    }

    /// Whether the browser is on this machine, by the name that it calls the server.
    var isLocal: Bool {
        let host = (host ?? "").utf8
        let name =
            host.first == UInt8(ascii: "[") ? host.prefix { $0 != UInt8(ascii: "]") } : host.prefix { $0 != UInt8(ascii: ":") }
        return name.elementsEqual("localhost".utf8) || name.elementsEqual("[::1".utf8) || name.starts(with: "127.".utf8)
    }

    /// The address of the page with its query.
    var address: String {
        path + (query.map { "?\($0)" } ?? "")
    }
}
