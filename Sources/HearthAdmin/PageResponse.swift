import DocumentModel
import HTTPTypes
import NIOCore

/// What a request for a page is answered with.
struct PageResponse: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields
    var body: [UInt8]
    /// The body, where it is made while it is sent.
    var stream: BodyStream?
    /// What follows a page, instead of a body.
    var live: LiveStream?

    /// A page that runs no foreign script, shows no foreign style, loads nothing from elsewhere, stands in no frame
    /// and stays in no cache.
    static func page(
        _ html: [UInt8],
        status: HTTPResponse.Status,
        language: Language,
        nonce: String
    ) -> PageResponse {
        var headers = common
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.contentLanguage] = language.rawValue
        headers[.vary] = "Accept-Language, Cookie"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self' 'nonce-\(nonce)'",
            "img-src 'self' data:",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
        ].joined(separator: "; ")
        return PageResponse(status: status, headers: headers, body: html)
    }

    /// A static file; for good, when the request named this very content.
    static func file(_ file: StaticFiles.File, isCurrent: Bool, isKnown: Bool) -> PageResponse {
        var headers = common
        headers[.eTag] = file.tag.text
        headers[.cacheControl] = isCurrent ? "public, max-age=31536000, immutable" : "no-cache"
        // An SVG opened by itself is a document.
        headers[.contentSecurityPolicy] = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        if isKnown { return PageResponse(status: .notModified, headers: headers, body: []) }
        headers[.contentType] = file.mediaType
        return PageResponse(status: .ok, headers: headers, body: file.bytes)
    }

    /// A document's file, shown as it is.
    static func file(_ bytes: [UInt8], of document: DocumentPath) -> PageResponse {
        var headers = common
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        headers[.contentDisposition] = "inline; filename*=UTF-8''\(PercentEncoding.encode(document.id.key)).json"
        return PageResponse(status: .ok, headers: headers, body: bytes)
    }

    /// A file to keep; a feed is shown instead.
    static func export(_ export: CollectionExport, _ body: BodyStream) -> PageResponse {
        var headers = common
        headers[.contentType] = export.isCompressed ? "application/gzip" : export.format.mediaType
        headers[.cacheControl] = "no-store"
        headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'; sandbox"
        if export.format != .atom || export.isCompressed {
            // The first name is for those that don't know the second form. Neither has anything that would have to be quoted.
            headers[.contentDisposition] =
                "attachment; filename=\"\(export.fileName)\"; filename*=UTF-8''\(export.encodedFileName)"
        }
        return PageResponse(status: .ok, headers: headers, body: [], stream: body)
    }

    /// The stream that a page is followed by.
    static func live(_ stream: LiveStream) -> PageResponse {
        PageResponse(status: .ok, headers: common, body: [], live: stream)
    }

    /// The way to another address.
    static func redirect(to location: String) -> PageResponse {
        var headers = common
        headers[.location] = location
        headers[.cacheControl] = "no-store"
        return PageResponse(status: .temporaryRedirect, headers: headers, body: [])
    }

    /// The way to the page after a form.
    static func seeOther(_ location: String, flash: Flash? = nil) -> PageResponse {
        var response = redirect(to: location)
        response.status = .seeOther
        return flash.map { response.settingCookie($0.cookie) } ?? response
    }

    /// The same response with a cookie.
    func settingCookie(_ field: String) -> PageResponse {
        var response = self
        response.headers.append(HTTPField(name: .setCookie, value: field))
        return response
    }

    /// What an address can be asked with.
    static func methods(_ methods: [HTTPRequest.Method]) -> PageResponse {
        PageResponse(status: .noContent, headers: common, body: []).allowing(methods)
    }

    /// The same response with the methods that the address answers, besides OPTIONS.
    func allowing(_ methods: [HTTPRequest.Method]) -> PageResponse {
        var response = self
        response.headers[.allow] = (methods + [.options]).map(\.rawValue).joined(separator: ", ")
        return response
    }

    private static let common: HTTPFields = [
        .xContentTypeOptions: "nosniff",
        .referrerPolicy: "same-origin",
        .crossOriginOpenerPolicy: "same-origin",
        .crossOriginResourcePolicy: "same-origin",
        .permissionsPolicy: "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ]
}

extension HTTPField.Name {
    // Each is a valid name: letters and hyphens.
    fileprivate static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    fileprivate static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
    fileprivate static let permissionsPolicy = HTTPField.Name("Permissions-Policy")!
}
