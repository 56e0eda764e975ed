import DocumentModel
import HTTPTypes
package import HummingbirdCore
import NIOCore

extension Request {
    /// Reads a body that must be JSON.
    ///
    /// - Throws: ``HTTPFailure``: 415 for an unsupported media type or encoding; 413 for a body that is too large, before reading
    ///   it if its length is known.
    package func jsonBody(by rules: RoutePolicy.BodyRules) async throws -> [UInt8] {
        try checkMediaType(by: rules)
        return try await bytes(atMost: rules.maximumBytes)
    }

    /// Returns the body, whatever its media type is.
    ///
    /// - Throws: ``HTTPFailure`` 413 for a larger body.
    package func bytes(atMost maximumBytes: Int) async throws -> [UInt8] {
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
            part.withUnsafeReadableBytes { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    private func checkMediaType(by rules: RoutePolicy.BodyRules) throws(HTTPFailure) {
        let type = contentType
        guard type.isJSON || (type.hasValue("text/plain") && rules.headersAllowingText.contains { headers[$0] != nil }),
            type.isUTF8
        else {
            throw HTTPFailure(.unsupportedMediaType, .invalidArgument, "Expected the header Content-Type: application/json.")
        }
        guard HeaderListElement.list(headers[.contentEncoding]).allSatisfy({ $0.hasValue("identity") }) else {
            throw HTTPFailure(.unsupportedMediaType, .invalidArgument, "Content-Encoding is not supported in requests.")
        }
    }
}

extension HeaderListElement {
    fileprivate var isJSON: Bool {
        hasValue("application/json") || hasValue("application/json-rpc") || hasValue("application/jsonrequest")
    }

    fileprivate var isUTF8: Bool {
        parameters.allSatisfy { parameter in
            !parameter.name.elementsEqual("charset".utf8) || parameter.value.map(\.lowercased).elementsEqual("utf-8".utf8)
        }
    }
}
