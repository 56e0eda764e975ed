import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import JSONRPC
import UTF8Text

/// The status of a gRPC call: what its trailers say.
struct GRPCStatus: Error, Sendable {
    /// The code; `nil` for OK. The numbers of ``StatusCode`` are gRPC's.
    let code: StatusCode?
    let message: String
    /// The time after which the client may try again; `nil` if the error says nothing about it.
    private let retryAfter: Duration?

    static let ok = GRPCStatus(code: nil, message: "")

    init(_ code: StatusCode, _ message: String) {
        self.init(code: code, message: message)
    }

    private init(code: StatusCode?, message: String, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// Creates the status of a call that failed. Clients read nothing but the code and the message, so the message includes the
    /// error's locations.
    init(_ error: StatusError) {
        self.init(
            code: error.isOfExpiredToken ? .unauthenticated : error.code.refusingListeners,
            message: error.messageWithLocation,
            retryAfter: error.retryAfter
        )
    }

    /// Creates the status of a request that was rejected. Clients repeat calls without valid credentials forever, unless they are
    /// told that it is for good.
    init(_ failure: HTTPFailure) {
        let code: StatusCode =
            switch failure.credentialsFailure {
            case .refused: .permissionDenied
            case .expiredToken: .unauthenticated
            case nil: failure.error.statusCode.refusingListeners
            }
        self.init(code: code, message: failure.error.message, retryAfter: failure.error.retryAfter)
    }
}

extension StatusCode {
    /// The code to send. A listener of an official client retries UNAUTHENTICATED forever, with the same credentials, unless it has
    /// an ID token: then it gets itself a new one.
    fileprivate var refusingListeners: StatusCode {
        self == .unauthenticated ? .permissionDenied : self
    }
}

extension GRPCStatus {
    /// The trailers `grpc-status` and `grpc-message`, and `grpc-retry-pushback-ms`, by which clients that retry calls delay them (gRFC
    /// A6).
    var trailers: HTTPFields {
        var trailers: HTTPFields = [.grpcStatus: String(code?.rawValue ?? 0)]
        if let retryAfter { trailers[.grpcRetryPushback] = String(retryAfter.wholeMilliseconds) }
        if !message.utf8.isEmpty { trailers[.grpcMessage] = Self.percentEncoded(message) }
        return trailers
    }

    /// The response to a call that fails before its first message: a head with the trailers.
    var response: Response {
        var headers = HTTPFields.grpc
        headers.append(contentsOf: trailers)
        return Response(status: .ok, headers: headers)
    }

    /// The maximum length of an encoded message. Clients limit the size of all trailers, some to 8 KiB, and fail a call that
    /// exceeds it with an unrelated error.
    static let maximumMessageBytes = 4 << 10

    /// Encodes a message: every byte but printable ASCII, and `%`, becomes `%XX`. A message that is too long is cut between two
    /// characters.
    static func percentEncoded(_ message: String) -> String {
        var encoded: [UInt8] = []
        for scalar in message.unicodeScalars {
            let count = encoded.count
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "%")
                if isPlain { encoded.append(byte) } else { encoded += PercentEncoding.escape(byte) }
            }
            guard encoded.count <= maximumMessageBytes else {
                encoded.removeSubrange(count...)
                break
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension HTTPFields {
    /// The headers of every response to a gRPC call.
    static let grpc: HTTPFields = [.contentType: "application/grpc", .grpcAcceptEncoding: "identity,gzip"]
}

extension HTTPField.Name {
    // The arguments are literals and valid tokens.

    static let grpcStatus = HTTPField.Name("grpc-status")!
    static let grpcMessage = HTTPField.Name("grpc-message")!
    static let grpcRetryPushback = HTTPField.Name("grpc-retry-pushback-ms")!
    static let grpcEncoding = HTTPField.Name("grpc-encoding")!
    static let grpcAcceptEncoding = HTTPField.Name("grpc-accept-encoding")!
    static let grpcTimeout = HTTPField.Name("grpc-timeout")!
}
