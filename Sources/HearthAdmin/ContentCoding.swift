import Gzip
import HTTPTypes
import StrictJSON

/// The coding in which the body of a response goes over the wire.
///
/// Whatever compresses a secret together with text that others choose lets them find out the secret by the lengths (BREACH). Of
/// secrets a page has only the token of its forms, which is masked by other random bytes on each page, so that no guess of it ever
/// makes a page shorter.
enum ContentCoding: Sendable {
    case identity
    case gzip

    /// The coding that a browser is served best with.
    ///
    /// - Parameter accepted: The header `Accept-Encoding`.
    init(accepted: String?) {
        self = .identity
        for item in (accepted ?? "").utf8.split(separator: UInt8(ascii: ",")) {
            let parts = item.split(separator: UInt8(ascii: ";")).map { part in
                part.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }.map { $0 | 0x20 }
            }
            guard let name = parts.first, name == Array("gzip".utf8) || name == Array("x-gzip".utf8) else { continue }
            // `q=0`, `q=0.0` and so on refuse it. The bit that is set above leaves digits and `.` as they are, and `=` as well.
            let isRefused = parts.dropFirst().contains { part in
                part.starts(with: "q=".utf8)
                    && part.dropFirst(2).allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
            }
            if !isRefused { self = .gzip }
        }
    }
}

extension PageResponse {
    /// The same response in a coding, where that is worth it.
    func encoded(for accepted: String?) -> PageResponse {
        guard isCompressible else { return self }
        var response = self
        response.headers.append(HTTPField(name: .vary, value: "Accept-Encoding"))
        guard case .gzip = ContentCoding(accepted: accepted) else { return response }
        if let stream {
            response.stream = stream.compressed
        } else {
            response.body = GzipStream.compress(body)
        }
        response.headers[.contentEncoding] = "gzip"
        // Other bytes than those that the tag is of.
        if let tag = headers[.eTag], tag.utf8.first == UInt8(ascii: "\"") { response.headers[.eTag] = "W/" + tag }
        return response
    }

    /// What takes a packet or two anyway isn't worth it, and what is compressed already isn't either.
    private var isCompressible: Bool {
        guard stream != nil || body.count > 1_400, headers[.contentEncoding] == nil else { return false }
        let type = (headers[.contentType] ?? "").utf8
        return Self.compressibleTypes.contains { type.starts(with: $0.utf8) }
    }

    private static let compressibleTypes = [
        "text/", "image/svg", "application/json", "application/x-ndjson", "application/atom", "application/vnd.google-earth.kml",
    ]
}
