import DocumentModel
import HTTPTypes
import NIOCore
import NIOHTTP1

/// What is wrong with a connection, or with a request before it is one.
extension HTTPFailure {
    /// A request that is not HTTP/1.1, or larger than is taken.
    ///
    /// - Parameter isTargetTooLong: Whether what is too large is the first line of the request.
    init(_ error: HTTPParserError, isTargetTooLong: Bool = false) {
        switch error {
        case .headerOverflow where isTargetTooLong:
            self.init(.uriTooLong, .invalidArgument, "The address is too long. Send long parameters in the body of a POST.")
        case .headerOverflow:
            self.init(
                .requestHeaderFieldsTooLarge,
                .invalidArgument,
                "The headers are too many or too long. Send at most 100 of them, and 32 KiB in all."
            )
        default:
            self.init(.badRequest, .invalidArgument, "The request is not well-formed HTTP/1.1: \(error).")
        }
    }

    /// A head that takes longer to arrive than it may.
    static func lateHead(after timeout: TimeAmount) -> HTTPFailure {
        HTTPFailure(
            .requestTimeout,
            .deadlineExceeded,
            "The head of the request was not complete after \(timeout.nanoseconds / 1_000_000) ms. Send it faster."
        )
    }

    /// A body that comes more slowly than it may.
    static func slowBody(_ configuration: ConnectionConfiguration) -> HTTPFailure {
        HTTPFailure(
            .requestTimeout,
            .deadlineExceeded,
            "The body of the request came more slowly than \(configuration.minimumBodyRate) bytes a second, after "
                + "\(configuration.bodyTimeout.nanoseconds / 1_000_000) ms without that limit. Send it faster."
        )
    }

    /// A connection beyond those that may be open.
    static func tooManyConnections(limit: Int) -> HTTPFailure {
        HTTPFailure(
            .serviceUnavailable,
            .resourceExhausted,
            "\(limit) connections are open, as many as this server allows. Try again in a moment.",
            headers: [.retryAfter: "5"]
        )
    }
}
