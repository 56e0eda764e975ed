import Hummingbird
import StrictJSON

/// `GET /health`: whether the server answers, for whoever watches over it.
struct HealthRoute: Sendable {
    /// What the server says of itself.
    private enum Status: String {
        case ok
    }

    func respond() -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("status")
        writer.string(status.rawValue)
        writer.endObject()
        return Response(json: writer.finish())
    }

    private var status: Status {
        .ok
    }
}
