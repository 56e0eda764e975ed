import HTTPTypes
import HearthAPI

/// The parts of an HTTP request that the pages use.
struct PageRequest: Sendable {
    let method: HTTPRequest.Method
    /// The percent-encoded path.
    let path: String
    /// The percent-encoded query string.
    let rawQuery: String?
    let query: URLQuery
    /// The `Host` header or `:authority`.
    var host: String?
    /// The `If-None-Match` header.
    var ifNoneMatch: String?
    /// The `Accept-Language` header.
    var acceptLanguage: String?
    /// The `Last-Event-ID` header of a resumed event stream.
    var lastEventID: String?
    /// The values of the `Cookie` header fields.
    var cookies: [String]
    /// The `Origin` header.
    var origin: String?
    /// True if the server itself has the connection by TLS.
    var isConnectedByTLS = false
    /// The ID of the request in the server's log; `nil` for one that did not come by HTTP.
    var requestID: String?
    var principal: Principal
    /// The body of a URL-encoded form; empty if there is none, `nil` if it exceeds the size limit.
    var form: [UInt8]?
    /// The received multipart form, or the reason why it was rejected; `nil` without a multipart form.
    var upload: Result<Form, UploadFailure>?

    init(
        method: HTTPRequest.Method = .get,
        path: String,
        rawQuery: String? = nil,
        host: String? = nil,
        ifNoneMatch: String? = nil,
        acceptLanguage: String? = nil,
        lastEventID: String? = nil,
        cookies: [String] = [],
        origin: String? = nil,
        principal: Principal = Principal(caller: .openAccess),
        form: [UInt8]? = nil,
        upload: Result<Form, UploadFailure>? = nil
    ) {
        (self.method, self.path, self.rawQuery, query) = (method, path, rawQuery, URLQuery(rawQuery))
        (self.host, self.origin, self.cookies, self.principal) = (host, origin, cookies, principal)
        (self.ifNoneMatch, self.acceptLanguage, self.lastEventID) = (ifNoneMatch, acceptLanguage, lastEventID)
        (self.form, self.upload) = (form, upload)
    }
}

extension PageRequest {
    /// True if the browser uses HTTPS: the connection does, or a proxy, according to the `Origin` header of the form.
    var isSecure: Bool {
        isConnectedByTLS || (origin ?? "").utf8.starts(with: "https://".utf8)
    }

    /// True if the `Host` header names a loopback address.
    var isLoopback: Bool {
        let host = (host ?? "").utf8
        let name =
            host.first == UInt8(ascii: "[") ? host.prefix { $0 != UInt8(ascii: "]") } : host.prefix { $0 != UInt8(ascii: ":") }
        return name.elementsEqual("localhost".utf8) || name.elementsEqual("[::1".utf8) || name.starts(with: "127.".utf8)
    }

    var pathAndQuery: String {
        path + (rawQuery.map { "?\($0)" } ?? "")
    }
}
