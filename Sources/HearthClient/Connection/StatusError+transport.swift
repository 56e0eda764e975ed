internal import AsyncHTTPClient
internal import DocumentModel
internal import NIOHTTP1
internal import StrictJSON
internal import UTF8Text

extension StatusError {
    /// Parses a JSON-RPC error object; returns `nil` for any other value.
    init?(rpc json: JSONNode) {
        guard case .integer(let number)? = json["code"]?.number, let message = json["message"]?.string else { return nil }
        let data = json["data"]
        if let errorID = data?["errorId"]?.string {
            self.init(.internal, "\(message). See error \(Excerpt(errorID)) in the server's log.")
            return
        }
        // In JSON-RPC protocol errors, `path` is a JSON pointer into the parameters, which the message contains.
        let path = number > 0 ? data?["path"]?.string : nil
        let file = data?["file"].flatMap(FileLocation.init(rpc:))
        self.init(StatusCode(rpc: number), message, path: path, field: data?["field"]?.string, file: file)
        if case .integer(let index)? = data?["write"]?.number { writeIndex = Int(index) }
        if case .integer(let wait)? = data?["retryAfterMilliseconds"]?.number { retryAfter = .milliseconds(wait) }
    }

    /// Parses an error for a damaged document.
    init(damaged json: JSONNode) {
        let message = json["message"]?.string ?? "The document can't be read."
        self.init(.dataLoss, message, path: json["path"]?.string, file: json["file"].flatMap(FileLocation.init(rpc:)))
    }

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
        if let root = try? JSONText(body).root, let error = Self(rpc: root["error"] ?? root) {
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

extension StatusError.FileLocation {
    init?(rpc json: JSONNode) {
        guard let path = json["path"]?.string else { return nil }
        if case .integer(let line)? = json["line"]?.number, case .integer(let column)? = json["column"]?.number {
            self.init(path: path, line: Int(clamping: line), column: Int(clamping: column))
        } else {
            self.init(path: path)
        }
    }
}

extension StatusCode {
    /// Returns the code for a JSON-RPC error number. Positive numbers are Firestore codes, negative ones are JSON-RPC's.
    init(rpc number: Int64) {
        self =
            switch number {
            case -32_700, -32_600, -32_602: .invalidArgument
            case -32_601: .unimplemented
            case -32_603: .internal
            default: Int(exactly: number).flatMap(StatusCode.init(rawValue:)) ?? .unknown
            }
    }
}
