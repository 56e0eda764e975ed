import Gzip
import HTTPTypes
import HearthHTTP

/// The content coding of a response body, negotiated by `Accept-Encoding`.
///
/// Compressing a secret together with text that an attacker chooses reveals the secret through the length of the response
/// (BREACH). The only secret on a page is the CSRF token, which is masked with fresh random bytes on each page, so that a correct
/// guess never shortens the response.
enum ContentCoding: Sendable {
    case identity
    case gzip

    /// Selects the coding to use for a request.
    init(acceptEncoding: String?) {
        let acceptsGzip = HeaderListElement.list(acceptEncoding).contains { element in
            (element.hasValue("gzip") || element.hasValue("x-gzip")) && !element.isUnacceptable
        }
        self = acceptsGzip ? .gzip : .identity
    }
}

extension PageResponse {
    /// Returns the response compressed for an `Accept-Encoding` header when that saves at least a packet.
    func encoded(for acceptEncoding: String?) -> PageResponse {
        guard isCompressible else { return self }
        var response = self
        response.headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        guard case .gzip = ContentCoding(acceptEncoding: acceptEncoding) else { return response }
        if let stream {
            response.stream = stream.compressed
        } else {
            response.body = GzipCompressor.compress(body)
        }
        response.headers[.contentEncoding] = "gzip"
        // The strong entity tag identifies the uncompressed bytes.
        if let tag = headers[.eTag], tag.utf8.first == UInt8(ascii: "\"") { response.headers[.eTag] = "W/" + tag }
        return response
    }

    /// True if compression is worthwhile: not for bodies of a packet or less, nor for compressed formats.
    private var isCompressible: Bool {
        guard stream != nil || body.count > 1_400, headers[.contentEncoding] == nil else { return false }
        let type = (headers[.contentType] ?? "").utf8
        return Self.compressibleTypes.contains { type.starts(with: $0.utf8) }
    }

    private static let compressibleTypes = [
        "text/", "image/svg", "application/json", "application/x-ndjson", "application/atom", "application/vnd.google-earth.kml",
    ]
}
