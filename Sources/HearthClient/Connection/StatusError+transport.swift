internal import AsyncHTTPClient
internal import DocumentModel
internal import HearthWire
internal import NIOHTTP1
internal import StrictJSON
internal import UTF8Text

extension StatusError {
    /// Creates the error for a request without a response.
    init(transport error: any Error, server: ServerAddress) {
        switch error {
        case is CancellationError, HTTPClientError.cancelled:
            self.init(.cancelled, "The call was cancelled.", cause: error)
        case HTTPClientError.deadlineExceeded, HTTPClientError.readTimeout:
            self.init(
                .deadlineExceeded,
                "\(server) did not respond in time. The call may or may not have taken effect.",
                cause: error
            )
        case HTTPClientError.remoteConnectionClosed:
            self.init(
                .unavailable,
                "\(server) closed the connection before responding. The call may or may not have taken effect.",
                cause: error
            )
        default:
            self.init(.unavailable, "Can't connect to \(server). Is `hearth serve` running at this address?", cause: error)
        }
    }

    /// Creates the error for an HTTP error status, with the server's message if the body contains one.
    init(status: HTTPResponseStatus, body: [UInt8], server: ServerAddress) {
        if let root = try? JSONText(body).root, let error = Self(json: root["error"] ?? root) {
            self = error
            return
        }
        let (code, text): (StatusCode, String) =
            switch status {
            case .badRequest: (.invalidArgument, "rejected the request as malformed")
            case .unauthorized: (.unauthenticated, "requires a valid API key")
            case .forbidden: (.permissionDenied, "denied the request")
            case .notFound, .methodNotAllowed:
                (.unimplemented, "does not support the request. Is it a Hearth server of a compatible version?")
            case .payloadTooLarge: (.invalidArgument, "rejected the request as too large. Send less data at a time")
            case .tooManyRequests: (.resourceExhausted, "is overloaded. Try again later")
            case .badGateway, .serviceUnavailable, .gatewayTimeout: (.unavailable, "is unavailable. Try again later")
            case .internalServerError: (.internal, "failed. See its log")
            default: (.unknown, "returned an unexpected response")
            }
        self.init(code, "HTTP status \(status.code): \(server) \(text)\(text.utf8.last == UInt8(ascii: "?") ? "" : ".")")
    }

    /// Returns the error for a response that doesn't come from a Hearth server.
    static func unexpectedResponse(from server: ServerAddress, cause: (any Error)? = nil) -> StatusError {
        StatusError(.internal, "Unexpected response from \(server). Is it a Hearth server?", cause: cause)
    }
}

extension HTTPClientError {
    /// Returns whether an error equals the pattern.
    fileprivate static func ~= (pattern: HTTPClientError, error: any Error) -> Bool {
        error as? HTTPClientError == pattern
    }
}
