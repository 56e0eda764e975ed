import DocumentModel
import DocumentStore
import HTTPTypes
import HearthAPI
import Hummingbird
import StrictJSON

/// `GET /health`: whether the server responds and accepts writes.
struct HealthRoute: Sendable {
    private let service: ServiceContext

    init(_ service: ServiceContext) {
        self.service = service
    }

    /// For monitoring, without credentials; reveals nothing about the contents.
    var policy: RoutePolicy {
        var policy = RoutePolicy()
        policy.access = .open
        policy.origins = RoutePolicy.OriginRules(crossOrigin: .standard, receivesForms: false)
        return policy
    }

    /// Responds 200 with `{"status":"ok"}`, or 503. Since no key is required, the reason is included only when the server requires no
    /// keys at all.
    func respond() async -> Response {
        let reason = await service.store.writeBlockedReason
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("status")
        writer.string(reason == nil ? "ok" : "unavailable")
        if let reason, !service.keys.requiresKeys {
            writer.key("message")
            writer.string(reason.message)
        }
        writer.endObject()
        return Response(json: writer.finish(), status: reason == nil ? .ok : .serviceUnavailable)
    }
}
