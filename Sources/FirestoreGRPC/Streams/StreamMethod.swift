import DocumentModel
package import HearthAPI
import HearthHTTP
import SwiftProtobuf

/// A method with a stream of requests and a stream of responses, both of which are open at the same time. It does not depend on
/// the transport.
struct StreamMethod<Request: Message, Response: StreamResponse>: Sendable {
    /// The permission required to make the call.
    let requiredPermission: Permission
    /// Processes requests and writes responses, in the context of the default database. The stream ends when it returns or throws.
    let execute: @Sendable (StreamInbox<Request>, inout any StreamWriter<Response>, ServiceContext) async throws -> Void
}

/// Writes the responses of a stream.
protocol StreamWriter<Response> {
    associatedtype Response: StreamResponse

    /// Writes responses that belong together, as fast as the client reads.
    mutating func write(_ responses: ArraySlice<Response>) async throws
}

extension StreamInbox: OpenStream {
    package func end(_ reason: OutgoingWatchFrame.EndReason?) {
        let error =
            switch reason {
            case .shutdown: StatusError(.unavailable, "The server is shutting down.")
            case .revoked: StatusError(.permissionDenied, "The key was revoked or has expired. Ask an admin for a new one.")
            case .unauthenticated: StatusError.tokenExpired
            case .slow: StatusError(.resourceExhausted, "The client does not read the responses.")
            case .timeout, .limit: StatusError(.deadlineExceeded, "The stream has reached its time limit.")
            case nil: StatusError(.cancelled, "The client has disconnected.")
            }
        fail(error)
    }
}
