import DocumentModel
import HTTPTypes
import HearthAPI
import HummingbirdCore
import JSONRPC

/// The freshness of the responses of a standby: how old the state may be that they show.
///
/// The header `Hearth-Age` says so in seconds. A request may demand more with `Hearth-Max-Age`; it fails if the state is older.
struct Freshness: Sendable {
    let standby: StandbyStatus

    /// Checks that the state is no older than a request permits.
    ///
    /// - Throws: 503 if it is; 400 for an invalid header.
    func check(_ request: Request) throws(HTTPFailure) {
        guard let text = request.headers[.hearthMaxAge] else { return }
        guard let seconds = Double(text), seconds >= 0, seconds <= 1e9 else {
            throw HTTPFailure(
                .badRequest,
                .invalidArgument,
                "Expected a number of seconds in the header Hearth-Max-Age, such as 5."
            )
        }
        if let error = standby.stalenessError(maximumAge: .seconds(seconds)) {
            throw HTTPFailure(.serviceUnavailable, error.rpcError, headers: [.retryAfter: "1"])
        }
    }

    /// Adds the age to a response, unless it is not known.
    ///
    /// - Parameter confirmed: The time at which the primary was known to have nothing more, before the request was processed.
    static func addAge(to response: inout Response, since confirmed: ContinuousClock.Instant?) {
        guard let confirmed else { return }
        response.headers[.hearthAge] = max(.zero, .now - confirmed).roundedSeconds
    }
}
