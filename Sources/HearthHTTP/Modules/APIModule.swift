import HTTPTypes
package import HearthAPI
import HummingbirdCore

/// Hearth's own API: JSON-RPC calls, watch streams, their description, and the state of the server.
package struct APIModule: RouteModule {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    package func routes(using server: ServerResources) -> [Route] {
        let rpc = RPCRoute(context, server)
        let watch = WatchRoute(service: context, streams: server.streams)
        let replication = ReplicationRoute(service: context, streams: server.streams)
        let openRPC = OpenRPCRoute()
        let metrics = MetricsRoute(registry: context.server.metrics.registry)
        let health = HealthRoute(context)
        let respondWithHealth: Route.Handler = { _, context in
            await health.respond(includingReason: context.hasKnownHost)
        }
        let respondWithReadiness: Route.Handler = { _, context in
            await health.respondReady(includingReason: context.hasKnownHost)
        }
        let respondWithLife: Route.Handler = { _, _ in HealthRoute.response(to: nil) }
        return [
            Route("/rpc", rpc.policy, [.post: rpc.respond(to:in:)]),
            Route("/watch", watch.policy, [.get: watch.respond(to:in:), .post: watch.respond(to:in:)]),
            Route("/replicate", replication.policy, [.post: replication.respond(to:in:)]),
            Route("/openrpc.json", openRPC.policy, [.get: openRPC.respond(to:in:), .head: openRPC.respond(to:in:)]),
            Route("/metrics", metrics.policy, [.get: metrics.respond(to:in:), .head: metrics.respond(to:in:)]),
            Route("/health", health.policy, [.get: respondWithHealth, .head: respondWithHealth]),
            Route("/health/live", health.policy, [.get: respondWithLife, .head: respondWithLife]),
            Route("/health/ready", health.policy, [.get: respondWithReadiness, .head: respondWithReadiness]),
        ]
    }
}
