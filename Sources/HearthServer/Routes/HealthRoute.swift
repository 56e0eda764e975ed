import DocumentModel
import DocumentStore
import HTTPTypes
import HearthService
import Hummingbird
import StrictJSON

/// `GET /health`: whether the server does its work: answers, and takes writes.
struct HealthRoute: Sendable {
    private let service: ServiceContext

    init(_ service: ServiceContext) {
        self.service = service
    }

    /// 200 with `{"status":"ok"}`, or 503. This is asked without a key; so why writes are refused is told only where there are
    /// none.
    func respond() async -> Response {
        let obstacle = await service.store.writeObstacle
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("status")
        writer.string(obstacle == nil ? "ok" : "unavailable")
        if let obstacle, !service.keys.areRequired {
            writer.key("message")
            writer.string(obstacle.message)
        }
        writer.endObject()
        return Response(json: writer.finish(), status: obstacle == nil ? .ok : .serviceUnavailable)
    }
}
