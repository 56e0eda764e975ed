import HTTPTypes
import HearthAPI
import Hummingbird
import StrictJSON
import Synchronization

/// `GET /health`: whether the server is ready: all open databases accept writes and can run queries.
struct HealthRoute: Sendable {
    private let service: ServiceContext
    private let readiness: Readiness

    init(_ service: ServiceContext) {
        self.service = service
        readiness = Readiness(service)
    }

    /// Open to monitoring without credentials, since the response reveals nothing about the contents.
    var policy: RoutePolicy {
        var policy = RoutePolicy()
        policy.access = .open
        policy.allowsAnyLocalHost = true
        policy.runsOnEventLoop = true
        policy.origins = RoutePolicy.OriginRules(crossOrigin: .standard, forms: .none)
        return policy
    }

    /// Responds 200 with `{"status":"ok"}`, or 503. Since no key is required, the reason is included only when the server requires no
    /// keys at all.
    ///
    /// - Parameter includesReason: False for a request that may come from a page of another site.
    func respond(includingReason includesReason: Bool) async -> Response {
        let reason = await readiness.unreadinessReason
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

/// The readiness of a server, determined at most every 100 ms.
///
/// Determining it takes system calls on another thread, which would cost most of the time of a request.
private final class Readiness: Sendable {
    /// A determination, which several requests may await.
    private struct Determination {
        let start: ContinuousClock.Instant
        let reason: Task<String?, Never>
    }

    private static let minimumInterval = Duration.milliseconds(100)

    private let service: ServiceContext
    private let latest = Mutex<Determination?>(nil)

    init(_ service: ServiceContext) {
        self.service = service
    }

    /// The reason why the server is not ready; `nil` if it is.
    var unreadinessReason: String? {
        get async {
            let now = ContinuousClock.now
            let determination = latest.withLock { latest in
                if let latest, now - latest.start < Self.minimumInterval { return latest }
                let next = Determination(start: now, reason: Task { [service] in await service.unreadinessReason })
                latest = next
                return next
            }
            return await determination.reason.value
        }
    }
}
