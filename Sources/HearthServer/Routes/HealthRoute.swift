import DocumentModel
import DocumentStore
import HTTPTypes
import Hummingbird
import StrictJSON

/// `GET /health`: whether the server does its work: answers, and takes writes.
struct HealthRoute: Sendable {
    private let store: any DocumentStore

    init(store: any DocumentStore) {
        self.store = store
    }

    /// 200 with `{"status":"ok"}`, or 503 with the reason why writes are refused.
    func respond() async -> Response {
        let obstacle = await store.writeObstacle
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("status")
        writer.string(obstacle == nil ? "ok" : "unavailable")
        if let obstacle {
            writer.key("message")
            writer.string(obstacle.message)
        }
        writer.endObject()
        return Response(json: writer.finish(), status: obstacle == nil ? .ok : .serviceUnavailable)
    }
}
