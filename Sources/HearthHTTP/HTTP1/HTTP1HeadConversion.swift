import HTTPTypes
import NIOHTTP1

/// Conversions between the heads of NIO's HTTP/1 codec and swift-http-types.
///
/// They replace the handler of swift-nio-extras, which parses the target of every request as a URL.
extension HTTPRequest {
    /// Creates a request from an HTTP/1 head whose target is in origin form; see ``NIOHTTP1/HTTPRequestHead/resolveAbsoluteForm()``.
    ///
    /// The first `Host` field becomes the authority; further ones remain among the fields.
    ///
    /// - Returns: `nil` if the method is not a valid token.
    init?(_ head: HTTPRequestHead) {
        guard let method = HTTPRequest.Method(head.method.rawValue) else { return nil }
        var authority: String?
        var fields = HTTPFields()
        fields.reserveCapacity(head.headers.count)
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            if authority == nil, name == .secondHost {
                authority = value
            } else {
                fields.append(HTTPField(name: name, value: value))
            }
        }
        self.init(method: method, scheme: "http", authority: authority, path: head.uri, headerFields: fields)
    }
}

extension HTTPResponseHead {
    init(_ response: HTTPResponse) {
        self.init(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase),
            headers: HTTPHeaders(response.headerFields)
        )
    }
}

extension HTTPHeaders {
    init(_ fields: HTTPFields) {
        self.init(fields.map { ($0.name.rawName, $0.value) })
    }
}
