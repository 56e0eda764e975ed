internal import AsyncHTTPClient
internal import DocumentModel
internal import NIOHTTP1
internal import StrictJSON

extension StatusError {
    /// What a JSON-RPC error object says; nil when the value is none.
    init?(rpc json: JSONNode) {
        guard case .integer(let number)? = json["code"]?.number, let message = json["message"]?.string else { return nil }
        let data = json["data"]
        if let errorID = data?["errorId"]?.string {
            self.init(.internal, "\(message); the server's log has more under error \(Excerpt(errorID)).")
            return
        }
        // In the envelope's own errors `path` is a place in the parameters, which the message names.
        let path = number > 0 ? data?["path"]?.string : nil
        let file = data?["file"].flatMap(FileLocation.init(rpc:))
        self.init(StatusCode(rpc: number), message, path: path, field: data?["field"]?.string, file: file)
        if case .integer(let index)? = data?["write"]?.number { writeIndex = Int(index) }
        if case .integer(let wait)? = data?["retryAfterMilliseconds"]?.number { retryAfter = .milliseconds(wait) }
    }

    /// What a page says of a document that is there and can't be read.
    init(damaged json: JSONNode) {
        let message = json["message"]?.string ?? "The document can't be read."
        self.init(.dataLoss, message, path: json["path"]?.string, file: json["file"].flatMap(FileLocation.init(rpc:)))
    }

    /// Why a request got no answer.
    init(transport error: any Error, server: ServerAddress) {
        switch error {
        case is CancellationError, HTTPClientError.cancelled:
            self.init(.cancelled, "The call was cancelled.", cause: error)
        case HTTPClientError.deadlineExceeded, HTTPClientError.readTimeout:
            self.init(
                .deadlineExceeded,
                "\(server) did not answer in time; whether the call took effect is not known.",
                cause: error
            )
        case HTTPClientError.remoteConnectionClosed:
            self.init(
                .unavailable,
                "\(server) closed the connection before it had answered; whether the call took effect is not known.",
                cause: error
            )
        default:
            self.init(.unavailable, "Can't reach \(server); is `hearth serve` running there?", cause: error)
        }
    }

    /// What an HTTP status other than success means, with the server's own text where the body has one.
    init(status: HTTPResponseStatus, body: [UInt8], server: ServerAddress) {
        if let root = try? JSONText(body).root, let error = Self(rpc: root["error"] ?? root) {
            self = error
            return
        }
        let (code, text): (StatusCode, String) =
            switch status {
            case .badRequest: (.invalidArgument, "refused the request as malformed")
            case .unauthorized: (.unauthenticated, "wants a key that it knows")
            case .forbidden: (.permissionDenied, "does not allow that")
            case .notFound, .methodNotAllowed: (.unimplemented, "has nothing there; is it a Hearth server of this version?")
            case .payloadTooLarge: (.invalidArgument, "refused the request as too long; send less at a time")
            case .tooManyRequests: (.resourceExhausted, "has too much to do; try again later")
            case .badGateway, .serviceUnavailable, .gatewayTimeout: (.unavailable, "can't answer now; try again later")
            case .internalServerError: (.internal, "failed; its log says why")
            default: (.unknown, "answered in a way that Hearth does not")
            }
        self.init(code, "\(server) \(text) (HTTP status \(status.code)).")
    }

    /// The answer is not what a Hearth server says.
    static func foreignAnswer(from server: ServerAddress, cause: (any Error)? = nil) -> StatusError {
        StatusError(.internal, "\(server) gave an answer that is not Hearth's; is something else serving there?", cause: cause)
    }
}

extension HTTPClientError {
    /// Whether an error is this one.
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
    /// The code for a JSON-RPC error number: positive ones are Firestore's own, the rest are the envelope's.
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
