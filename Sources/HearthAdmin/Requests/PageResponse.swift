import DocumentModel
import HTTPTypes
import HearthHTTP
import NIOCore
import UTF8Text

/// The response to a page request.
struct PageResponse: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: [UInt8]
    /// The body of an export, produced while it is sent; replaces `body`.
    var stream: StreamingBody?
    /// The event stream of live updates; replaces `body`.
    var live: LiveStream?

    /// Returns an HTML page with a Content Security Policy that allows only the server's own scripts and styles, and forbids
    /// framing. Images may also come from the origins in ``ImageOrigins/current``.
    ///
    /// Pages are not cached.
    static func page(
        _ html: [UInt8],
        status: HTTPResponse.Status,
        language: Language,
        nonce: String
    ) -> PageResponse {
        var headers = commonHeaders
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentLanguage] = language.rawValue
        headers[.vary] = "Accept-Language, Cookie"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self' 'nonce-\(nonce)'",
            (["img-src", "'self'", "data:"] + ImageOrigins.current.sources).joined(separator: " "),
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ].joined(separator: "; ")
        return PageResponse(status: status, headers: headers, body: html)
    }

    /// Returns a static file.
    ///
    /// - Parameters:
    ///   - isVersioned: Whether the URL names this version of the file, so that it can be cached as immutable.
    ///   - isNotModified: Whether the browser already has the file, so that the response is 304 without a body.
    static func file(_ file: StaticFiles.File, isVersioned: Bool, isNotModified: Bool) -> PageResponse {
        var headers = commonHeaders
        headers[.eTag] = file.tag.text
        headers[.cacheControl] = isVersioned ? "public, max-age=31536000, immutable" : "no-cache"
        // A browser that opens an SVG directly treats it as a document, so it needs a policy.
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        if isNotModified { return PageResponse(status: .notModified, headers: headers, body: []) }
        headers[.contentType] = file.mediaType
        return PageResponse(status: .ok, headers: headers, body: file.bytes)
    }

    /// Returns the unmodified contents of a document file.
    static func file(_ bytes: [UInt8], of document: DocumentPath) -> PageResponse {
        var headers = commonHeaders
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        headers[.contentDisposition] = "inline; filename*=UTF-8''\(PercentEncoding.encode(document.id.key)).json"
        return PageResponse(status: .ok, headers: headers, body: bytes)
    }

    /// Returns JSON for a script of the pages.
    static func json(_ bytes: [UInt8]) -> PageResponse {
        var headers = commonHeaders
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        return PageResponse(status: .ok, headers: headers, body: bytes)
    }

    /// Returns an event stream of live updates.
    static func live(_ stream: LiveStream) -> PageResponse {
        PageResponse(status: .ok, headers: commonHeaders, body: [], live: stream)
    }

    /// Returns a temporary redirect (307).
    static func redirect(to location: String) -> PageResponse {
        var headers = commonHeaders
        headers[.location] = location
        headers[.cacheControl] = "no-store"
        return PageResponse(status: .temporaryRedirect, headers: headers, body: [])
    }

    /// Returns a redirect to a page after a form was handled (303).
    static func seeOther(_ location: String, flash: Flash? = nil) -> PageResponse {
        var response = redirect(to: location)
        response.status = .seeOther
        return flash.map { response.settingCookie($0.cookie) } ?? response
    }

    /// Returns the response with a `Set-Cookie` header.
    func settingCookie(_ field: String) -> PageResponse {
        var response = self
        response.headers.append(HTTPField(name: .setCookie, value: field))
        return response
    }

    /// Returns the response to an OPTIONS request.
    static func options(allowing methods: [HTTPRequest.Method]) -> PageResponse {
        PageResponse(status: .noContent, headers: commonHeaders, body: []).allowing(methods)
    }

    /// Returns the response with an `Allow` header that lists the methods and OPTIONS.
    func allowing(_ methods: [HTTPRequest.Method]) -> PageResponse {
        var response = self
        response.headers[.allow] = (methods + [.options]).map(\.rawValue).joined(separator: ", ")
        return response
    }

    /// The header fields of every response.
    static let commonHeaders: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .referrerPolicy: "same-origin",
        .crossOriginOpenerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin",
        .permissionsPolicy: "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ]
}

extension HTTPField.Name {
    // The names consist of letters and hyphens, so the initializer cannot fail.
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    fileprivate static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
    fileprivate static let permissionsPolicy = HTTPField.Name("Permissions-Policy")!
}
