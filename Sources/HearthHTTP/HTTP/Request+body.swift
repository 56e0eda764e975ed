import DocumentModel
import HTTPTypes
package import Hummingbird
import NIOCore

extension Request {
    /// Reads a body that must be JSON.
    ///
    /// - Parameter acceptsText: Whether `text/plain` is accepted too, in a request that no cross-site form can send.
    /// - Throws: ``HTTPFailure``: 415 for an unsupported media type or encoding; 413 for a body that is too large, before reading
    ///   it if its length is known.
    func jsonBody(atMost maximumBytes: Int, acceptsText: Bool = false) async throws -> [UInt8] {
        try checkMediaType(acceptsText: acceptsText)
        let tooLarge = HTTPFailure(
            .contentTooLarge,
            .invalidArgument,
            "The request body exceeds \(maximumBytes) bytes."
        )
        // A number too large for Int exceeds any limit.
        let length = headers[.contentLength].map { Int($0) ?? .max } ?? 0
        guard length <= maximumBytes else { throw tooLarge }
        var bytes: [UInt8] = []
        // The length that the client declares is not trusted beyond this.
        bytes.reserveCapacity(min(length, 64 << 10))
        for try await part in body {
            guard bytes.count + part.readableBytes <= maximumBytes else { throw tooLarge }
            bytes.append(contentsOf: part.readableBytesView)
        }
        return bytes
    }

    /// Returns whether the body has a media type, regardless of its parameters (RFC 9110, 8.3.1).
    ///
    /// - Parameter type: The type in lowercase; the header is compared case-insensitively.
    package func isOfType(_ type: StaticString) -> Bool {
        contentType.isValue(type)
    }

    /// Whether the client uses the media type of JSON-RPC, in `Content-Type` or `Accept`.
    var namesJSONRPC: Bool {
        isOfType("application/json-rpc")
            || HeaderListElement.list(headers[.accept]).contains { $0.isValue("application/json-rpc") }
    }

    private var contentType: HeaderListElement {
        HeaderListElement((headers[.contentType] ?? "").utf8)
    }

    private func checkMediaType(acceptsText: Bool) throws(HTTPFailure) {
        let type = contentType
        guard type.isJSON || (acceptsText && type.isValue("text/plain") && hasNonFormHeader), type.isUTF8 else {
            throw HTTPFailure(.unsupportedMediaType, .invalidArgument, "Expected the header Content-Type: application/json.")
        }
        guard HeaderListElement.list(headers[.contentEncoding]).allSatisfy({ $0.isValue("identity") }) else {
            throw HTTPFailure(.unsupportedMediaType, .invalidArgument, "Content-Encoding is not supported in requests.")
        }
    }

    /// Whether the request has a header that an HTML form cannot send: one of Google's clients or a key.
    private var hasNonFormHeader: Bool {
        headers[.xGoogAPIClient] != nil || headers[.authorization] != nil
    }
}

extension HeaderListElement {
    fileprivate var isJSON: Bool {
        isValue("application/json") || isValue("application/json-rpc") || isValue("application/jsonrequest")
    }

    fileprivate var isUTF8: Bool {
        parameters.allSatisfy { parameter in
            !parameter.name.elementsEqual("charset".utf8) || parameter.value.map(\.lowercased).elementsEqual("utf-8".utf8)
        }
    }
}
