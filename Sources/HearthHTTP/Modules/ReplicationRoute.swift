import DocumentModel
import HTTPTypes
import HearthAPI
import HummingbirdCore
import NIOCore
import Replication

/// `POST /replicate`: the stream of a standby.
///
/// The body says what the standby has of each database (``ReplicationRequest``). The response is a stream of messages
/// (``ReplicationMessage``).
struct ReplicationRoute: Sendable {
    let service: ServiceContext
    let streams: WatchStreamService

    /// For programs of administrators: pages of other sites, and sessions of browsers, have no use for it.
    var policy: RoutePolicy {
        var policy = RoutePolicy()
        policy.access = .admin
        policy.sessionCookies = .ignored
        policy.isStream = true
        policy.origins = RoutePolicy.OriginRules(crossOrigin: nil, allowsLinks: false, forms: .none)
        policy.body.maximumBytes = ReplicationRequest.maximumBytes
        return policy
    }

    func respond(to request: Request, in context: HearthRequestContext) async throws -> Response {
        let body = try await request.jsonBody(by: context.route.policy.body)
        let service = service.withCaller(context.caller)
        let session = try ReplicationSession(ReplicationRequest(json: body), in: service)
        return Response(
            status: .ok,
            headers: [
                .contentType: "application/octet-stream",
                .cacheControl: "no-store",
                .xAccelBuffering: "no",
                // The connection serves no more requests: anything received later only shows that the standby disconnected.
                .connection: "close",
            ],
            body: ResponseBody { [channel = context.channel, streams] writer in
                channel.closeFuture.whenComplete { _ in session.end(nil) }
                let stall = StreamStallObservation { session.end(.slow) }
                channel.triggerUserOutboundEvent(stall, promise: nil)
                try await Self.write(session, to: &writer, on: channel, streams, service)
            }
        )
    }

    private static func write(
        _ session: ReplicationSession,
        to writer: inout any ResponseBodyWriter,
        on channel: any Channel,
        _ streams: WatchStreamService,
        _ service: ServiceContext
    ) async throws {
        let registration = streams.register(session, for: service)
        defer { withExtendedLifetime(registration) {} }
        let activity = service.server.activity
        try await session.run { bytes in
            try await writer.write(bytes, on: channel.eventLoop)
        } untilIdle: {
            activity.pendingRequestCount == 0 && !streams.hasOpenStream { !($0 is ReplicationSession) }
        }
        try await writer.finish(nil)
    }
}

extension ReplicationSession: OpenStream {}
