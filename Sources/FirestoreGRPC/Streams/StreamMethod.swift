import DocumentModel
package import HearthAPI
import HearthHTTP
import NIOCore
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

    /// The writer of responses for which the stream's task is not woken; `nil` if there is none.
    var live: (any LiveStreamWriter<Response>)? { get }
}

extension StreamWriter {
    var live: (any LiveStreamWriter<Response>)? { nil }
}

/// Writes the responses of a stream on an event loop while the stream's task waits.
protocol LiveStreamWriter<Response> {
    associatedtype Response: StreamResponse
    /// Encoded responses, which streams of the same transport can share.
    associatedtype Content: Sendable

    /// The name of the encoding.
    static var encoding: String { get }

    /// The streams of the server.
    var streams: WatchStreamService { get }

    var eventLoop: any EventLoop { get }

    /// Encodes responses that belong together.
    func encode(_ responses: [Response]) throws(StatusError) -> Content

    /// Writes and sends content if the client has read enough. Called on the event loop, when all earlier writes have returned.
    ///
    /// - Returns: False if nothing has been written.
    func writeIfWritable(_ content: Content) -> Bool
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
