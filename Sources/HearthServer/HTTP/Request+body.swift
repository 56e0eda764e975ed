import DocumentModel
import HTTPTypes
import Hummingbird
import NIOCore

extension Request {
    /// Reads the body of a request that must be JSON.
    ///
    /// - Parameter takesText: Whether it may also be called text, where no page of another site can have sent it.
    /// - Throws: ``HTTPFailure``: 415 for another type or encoding, 413 for a body that is too large, before it is read
    ///   where its length is known.
    func jsonBody(atMost maximumBytes: Int, takesText: Bool = false) async throws -> [UInt8] {
        try checkMediaType(takesText: takesText)
        let tooLarge = HTTPFailure(
            .contentTooLarge,
            .invalidArgument,
            "The body is larger than \(maximumBytes) bytes. Send less at once."
        )
        // Digits that are no Int are more than any Int.
        let length = headers[.contentLength].map { Int($0) ?? .max } ?? 0
        guard length <= maximumBytes else { throw tooLarge }
        var bytes: [UInt8] = []
        // No more on the client's word alone.
        bytes.reserveCapacity(min(length, 64 << 10))
        for try await part in body {
            guard bytes.count + part.readableBytes <= maximumBytes else { throw tooLarge }
            bytes.append(contentsOf: part.readableBytesView)
        }
        return bytes
    }

    private func checkMediaType(takesText: Bool) throws(HTTPFailure) {
        let type = FieldValue((headers[.contentType] ?? "").utf8)
        guard type.isJSON || (takesText && type.isValue("text/plain") && hasHeaderOfNoForm), type.isUTF8 else {
            throw HTTPFailure(.unsupportedMediaType, .invalidArgument, "Send the header Content-Type: application/json.")
        }
        guard FieldValue.list(headers[.contentEncoding]).allSatisfy({ $0.isValue("identity") }) else {
            throw HTTPFailure(.unsupportedMediaType, .invalidArgument, "Send the body as it is, without Content-Encoding.")
        }
    }

    /// Whether it has a header of Google's clients or a key, of which no form can send either.
    private var hasHeaderOfNoForm: Bool {
        headers[.xGoogAPIClient] != nil || headers[.authorization] != nil
    }

    /// Whether the client names the media type of JSON-RPC, as it sends or accepts it.
    var namesJSONRPC: Bool {
        let accepted = FieldValue.list(headers[.accept])
        return FieldValue((headers[.contentType] ?? "").utf8).isValue("application/json-rpc")
            || accepted.contains { $0.isValue("application/json-rpc") }
    }
}

extension FieldValue {
    fileprivate var isJSON: Bool {
        isValue("application/json") || isValue("application/json-rpc") || isValue("application/jsonrequest")
    }

    fileprivate var isUTF8: Bool {
        parameters.allSatisfy { parameter in
            !parameter.name.elementsEqual("charset".utf8) || parameter.value.map(\.lowercased).elementsEqual("utf-8".utf8)
        }
    }
}
