import HTTPTypes
import HearthAPI
import Hummingbird
import StrictJSON

/// `GET /health`: whether the server is ready: all open databases accept writes and can run queries.
struct HealthRoute: Sendable {
    private let service: ServiceContext

    init(_ service: ServiceContext) {
        self.service = service
    }

    /// Open to monitoring without credentials, since the response reveals nothing about the contents.
    var policy: RoutePolicy {
        var policy = RoutePolicy()
        policy.access = .open
        policy.allowsAnyLocalHost = true
        policy.runsOnEventLoop = true
        policy.origins = RoutePolicy.OriginRules(crossOrigin: .standard, receivesForms: false)
        return policy
    }

    /// Responds 200 with `{"status":"ok"}`, or 503. Since no key is required, the reason is included only when the server requires no
    /// keys at all.
    ///
    /// - Parameter includesReason: False for a request that may come from a page of another site.
    func respond(includingReason includesReason: Bool) async -> Response {
        let reason = await service.unreadinessReason
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("status")
        writer.string(reason == nil ? "ok" : "unavailable")
        if let reason, includesReason, !service.keys.requiresKeys {
            writer.key("message")
            writer.string(reason)
        }
        writer.endObject()
        return Response(json: writer.finish(), status: reason == nil ? .ok : .serviceUnavailable)
    }
}
