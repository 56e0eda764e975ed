internal import AsyncHTTPClient
package import DocumentModel
internal import Foundation
internal import HearthWire
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import StrictJSON
internal import UTF8Text

extension StatusError {
    /// Creates the error for a request that received no response.
    ///
    /// - Parameter hasSucceeded: Whether an earlier request was successful, so that the address is right.
    init(transport error: any Error, server: ServerAddress, hasSucceeded: Bool) {
        let hint = server.usesTLS || hasSucceeded ? "" : " If the server requires TLS, use an https URL."
        switch error {
        case is CancellationError, HTTPClientError.cancelled:
            self.init(.cancelled, "The call was cancelled.", cause: error)
            isOutcomeUnknown = true
        case HTTPClientError.alreadyShutdown:
            self.init(.cancelled, "The connection has been shut down.", cause: error)
        case HTTPClientError.deadlineExceeded, HTTPClientError.readTimeout:
            self.init(
                .deadlineExceeded,
                "\(server) did not respond in time. The call may or may not have taken effect.",
                cause: error
            )
            isOutcomeUnknown = true
        case HTTPClientError.remoteConnectionClosed, HTTPParserError.invalidEOFState:
            self.init(
                .unavailable,
                "\(server) closed the connection before responding. The call may or may not have taken effect.\(hint)",
                cause: error
            )
            isOutcomeUnknown = true
        case is HTTPParserError where !server.usesTLS:
            self.init(
                .unavailable,
                "\(server) did not respond in HTTP.\(hint)",
                cause: error
            )
        case HTTPClientError.tlsHandshakeTimeout:
            self.init(tlsFailure: error, server: server)
        // The errors of TLS are those that are none of these.
        case _
        where server.usesTLS && !(error is NIOConnectionError || error is IOError || error is ChannelError)
            && !(error is HTTPClientError || error is HTTPParserError):
            self.init(tlsFailure: error, server: server)
        case let error as IOError where !Self.connectErrors.contains(error.errnoCode):
            self.init(
                .unavailable,
                "The connection to \(server) broke before a response. The call may or may not have taken effect.",
                cause: error
            )
            isOutcomeUnknown = true
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.outputClosed, ChannelError.inputClosed,
            ChannelError.eof:
            self.init(
                .unavailable,
                "The connection to \(server) was closed before a response. The call may or may not have taken effect.",
                cause: error
            )
            isOutcomeUnknown = true
        default:
            self.init(.unavailable, "Cannot connect to \(server). Is `hearth serve` running at this address?", cause: error)
        }
    }

    /// The error numbers of connections that could not be established, over which nothing was sent.
    private static let connectErrors = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EADDRNOTAVAIL, EACCES, ENOENT]

    /// Creates the error for a connection on which TLS could not be established.
    private init(tlsFailure error: any Error, server: ServerAddress) {
        let description = "\(error)".utf8
        let reason =
            if description.contains("WRONG_VERSION_NUMBER".utf8) || description.contains("HTTP_REQUEST".utf8) {
                "The server does not use TLS at this port. Use an http URL, or the port of its TLS proxy."
            } else if description.contains("CERTIFICATE_VERIFY_FAILED".utf8)
                || description.contains("unableToValidateCertificate".utf8)
            {
                "The certificate of the server is not trusted, has expired, or is for another host name."
            } else {
                "The TLS handshake failed. Does the server use TLS at this port?"
            }
        self.init(.unavailable, "Cannot establish a TLS connection to \(server). \(reason)", cause: error)
    }

    /// Creates the error for an HTTP error status, with the server's message if the body contains one.
    ///
    /// - Parameter retryAfter: The value of `Retry-After`, which a proxy may have set; `nil` if there is none.
    init(status: HTTPResponseStatus, body: [UInt8], retryAfter: String?, server: ServerAddress) {
        self.init(status: status, body: body, server: server)
        // The error of a Hearth server is more precise.
        guard self.retryAfter == nil, let seconds = retryAfter.flatMap({ UInt16($0) }) else { return }
        self.retryAfter = .seconds(Int(seconds))
    }

    private init(status: HTTPResponseStatus, body: [UInt8], server: ServerAddress) {
        if let root = try? JSONText(body).root, let error = Self(json: root["error"] ?? root) {
            self = error
            return
        }
        let (code, text): (StatusCode, String) =
            switch status {
            case .badRequest: (.invalidArgument, "rejected the request as malformed")
            case .unauthorized: (.unauthenticated, "requires a valid API key or ID token")
            case .forbidden: (.permissionDenied, "denied the request")
            case .notFound, .methodNotAllowed:
                (.unimplemented, "does not support the request. Is it a Hearth server of a compatible version?")
            case .payloadTooLarge: (.invalidArgument, "rejected the request as too large. Send less data at a time")
            case .tooManyRequests: (.resourceExhausted, "is overloaded. Try again later")
            case .badGateway, .serviceUnavailable, .gatewayTimeout: (.unavailable, "is unavailable. Try again later")
            case .internalServerError: (.internal, "encountered an internal error. See its log")
            default: (.unknown, "returned an unexpected response")
            }
        self.init(
            code,
            "HTTP status \(status.code): \(server) \(text)\(text.utf8.last == UInt8(ascii: "?") ? "" : ".")",
            cause: ForeignResponse()
        )
        // The answer of a proxy does not tell what became of the request.
        isOutcomeUnknown = status == .requestTimeout || status.code >= 500
    }

    /// The error as that of a program that is no Hearth server.
    var ofForeignServer: StatusError {
        var error = self
        error.cause = ForeignResponse()
        return error
    }

    /// Returns the error for a response that doesn't come from a Hearth server.
    static func unexpectedResponse(from server: ServerAddress, cause: (any Error)? = nil) -> StatusError {
        var error = StatusError(
            .internal,
            "Unexpected response from \(server). Is it a Hearth server?",
            cause: ForeignResponse(cause: cause)
        )
        // The server may have executed the call before a proxy answered in its place.
        error.isOutcomeUnknown = true
        return error
    }

    /// True if no Hearth server can answer now: it cannot be reached, it refuses calls for a time, or a proxy or captive portal has answered
    /// instead.
    package var isServerUnreachable: Bool {
        code == .unavailable || code == .deadlineExceeded || cause is ForeignResponse
    }

    /// True if the call has certainly not reached a Hearth server: there was no connection to it, or a proxy has refused the call itself.
    package var isUndelivered: Bool {
        cause != nil && !isOutcomeUnknown && (code == .unavailable || cause is ForeignResponse)
    }

    /// True if there was a response, of the server or of a proxy.
    package var hasResponse: Bool { cause == nil || cause is ForeignResponse }
}

/// The cause of an error that a response does not give as Hearth servers do.
private struct ForeignResponse: Error {
    /// The error of the parser, if the response could not be parsed.
    var cause: (any Error)?
}

extension HTTPParserError {
    /// Returns whether an error equals the pattern.
    fileprivate static func ~= (pattern: HTTPParserError, error: any Error) -> Bool {
        error as? HTTPParserError == pattern
    }
}

extension HTTPClientError {
    /// Returns whether an error equals the pattern.
    fileprivate static func ~= (pattern: HTTPClientError, error: any Error) -> Bool {
        error as? HTTPClientError == pattern
    }
}

extension StatusError {
    /// True if the same call may succeed when it is retried.
    package var isTransient: Bool {
        // The provider may be unable to reach the issuer.
        if cause is TokenProviderFailure || isExecuted == false { return true }
        return switch code {
        case .unavailable, .deadlineExceeded, .resourceExhausted, .aborted, .cancelled, .internal, .unknown: true
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange, .unimplemented,
            .dataLoss, .unauthenticated:
            false
        }
    }

    /// Returns whether a stream ended with the error because its database was deleted, which exists again for the next stream.
    ///
    /// - Parameter hasOpened: True if the stream had been opened.
    package func isOfDeletedDatabase(_ hasOpened: Bool) -> Bool {
        hasOpened && code == .notFound
    }
}
