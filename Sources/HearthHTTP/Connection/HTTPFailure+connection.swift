import DocumentModel
import HTTPTypes
import HummingbirdCore
import JSONRPC
import NIOCore
import NIOHTTP1
import UTF8Text

/// The failures of connections and of malformed requests.
extension HTTPFailure {
    /// Creates the failure that the client sees for an error of its request; returns `nil` for an unexpected error.
    package init?(for error: any Error, in context: HearthRequestContext) {
        switch error {
        case let failure as HTTPFailure:
            self = failure
        case let error as HTTPParserError:
            // An error in the body; errors in a head are handled by the connection.
            self.init(error)
        case let error as any RPCErrorConvertible where error.rpcError.code != .internalError:
            self.init(error.rpcError)
        case is CancellationError where Task.isCancelled, is ChannelError where !context.channel.isActive:
            // Nobody receives the response.
            self.init(.serviceUnavailable, .cancelled, "The client cancelled the request.")
        default:
            return nil
        }
    }

    /// Creates the failure for a request that the HTTP parser rejects.
    ///
    /// - Parameter isTargetTooLong: Whether an overflow is in the request line.
    init(_ error: HTTPParserError, isTargetTooLong: Bool = false) {
        switch error {
        case .headerOverflow:
            self = isTargetTooLong ? .targetTooLong : .headersTooLarge
        default:
            self.init(.badRequest, .invalidArgument, "The request is not well-formed HTTP/1.1: \(error).")
        }
    }

    /// The failure for a request target over the limit.
    static var targetTooLong: HTTPFailure {
        HTTPFailure(.uriTooLong, .invalidArgument, "The request URI is too long. Send long parameters in the body of a POST.")
    }

    /// The failure for request headers over the limits.
    static var headersTooLarge: HTTPFailure {
        HTTPFailure(
            .requestHeaderFieldsTooLarge,
            .invalidArgument,
            "The request headers exceed 100 fields or 32 KiB in total."
        )
    }

    /// Returns the failure for a request head that was not complete in time.
    static func headTimeout(_ timeout: TimeAmount) -> HTTPFailure {
        HTTPFailure(
            .requestTimeout,
            .deadlineExceeded,
            "The request headers were not received within \(timeout.nanoseconds / 1_000_000) ms."
        )
    }

    /// Returns the failure for a request body below the minimum rate.
    static func bodyTimeout(_ configuration: ConnectionConfiguration) -> HTTPFailure {
        HTTPFailure(
            .requestTimeout,
            .deadlineExceeded,
            "The request body arrived at less than \(configuration.minimumBodyRate) bytes per second, after a grace period of "
                + "\(configuration.bodyTimeout.nanoseconds / 1_000_000) ms."
        )
    }

    /// Returns the failure for an HTTP/1.0 request with a transfer coding.
    static var codedHTTP10Body: HTTPFailure {
        HTTPFailure(
            .badRequest,
            .invalidArgument,
            "The request is not well-formed HTTP: Transfer-Encoding requires HTTP/1.1. Send a Content-Length."
        )
    }

    /// Creates the failure for a connection over a limit, all of whose connections have open requests.
    init(_ limit: ConnectionSlots.LimitReached) {
        let message =
            switch limit {
            case .total(let limit):
                "The server has reached its limit of \(limit) connections. Retry shortly."
            case .address(let address, let limit):
                "Your address \(address.string) has reached the limit of \(limit) connections per address. Close some, or retry "
                    + "shortly."
            }
        self.init(.serviceUnavailable, .resourceExhausted, message, headers: [.retryAfter: "5"])
    }

    /// Returns the response to a request that was not passed on, as JSON.
    ///
    /// - Parameter date: The value of the `Date` field.
    func connectionResponse(at date: String) -> (head: HTTPResponse, body: ByteBuffer) {
        let body = ByteBuffer(bytes: json)
        var fields = RequestResponder.headers
        fields.append(contentsOf: headers)
        fields[.contentType] = "application/json"
        fields[.date] = date
        fields[.contentLength] = String(body.readableBytes)
        return (HTTPResponse(status: status, headerFields: fields), body)
    }
}
