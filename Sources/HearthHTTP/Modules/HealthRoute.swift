import Concurrency
import HTTPTypes
import HearthAPI
import HummingbirdCore
import StrictJSON
import Synchronization

/// `GET /health`: whether all open databases accept writes and can run queries.
///
/// `GET /health/ready` also says whether the server is about to stop, so that a load balancer sends its requests elsewhere;
/// `GET /health/live` only that it responds, since a restart mends nothing else.
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
        response(unreadyBecause: await readiness.unreadinessReason, includingReason: includesReason)
    }

    /// Responds as ``respond(includingReason:)``, and with 503 once the server is about to stop.
    func respondReady(includingReason includesReason: Bool) async -> Response {
        let standby = service.server.standby
        if service.server.activity.isStopping {
            return response(unreadyBecause: "The server is stopping.", includingReason: includesReason, standby: standby)
        }
        return response(
            unreadyBecause: await readiness.unreadinessReason,
            includingReason: includesReason,
            standby: standby
        )
    }

    private func response(
        unreadyBecause reason: String?,
        includingReason includesReason: Bool,
        standby: StandbyStatus? = nil
    ) -> Response {
        let isKnown = includesReason && !service.keys.requiresKeys
        return Self.response(to: reason.map { isKnown ? $0 : "" }, standby: standby)
    }

    /// Returns the response to a check.
    ///
    /// - Parameters:
    ///   - reason: The reason why it fails; empty for one that is not told, `nil` if it does not fail.
    ///   - standby: The state of a standby, whose role and age are part of the response.
    static func response(to reason: String?, standby: StandbyStatus? = nil) -> Response {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("status")
        writer.string(reason == nil ? "ok" : "unavailable")
        if let reason, !reason.utf8.isEmpty {
            writer.key("message")
            writer.string(reason)
        }
        if let standby {
            writer.key("role")
            writer.string("standby")
            if let age = standby.ageSeconds {
                writer.key("ageSeconds")
                writer.double(age)
            }
        }
        writer.endObject()
        return Response(json: writer.finish(), status: reason == nil ? .ok : .serviceUnavailable)
    }
}

/// The readiness of a server, determined at most every 100 ms.
///
/// Determining it takes system calls on another thread, which would cost most of the time of a request; or it waits for an engine. A
/// request waits for a limited time, and a determination that has not ended is shared by all.
private final class Readiness: Sendable {
    /// A determination, which several requests may await.
    private struct Determination {
        let start = ContinuousClock.now
        let reason = SharedOutcome<String?>()
    }

    private static let minimumInterval = Duration.milliseconds(100)
    /// The time that a request waits. A load balancer waits for a few seconds only.
    private static let maximumWait = Duration.seconds(2)

    private let service: ServiceContext
    private let latest = Mutex<Determination?>(nil)

    init(_ service: ServiceContext) {
        self.service = service
    }

    /// The reason why the server is not ready, or that this could not be determined in time; `nil` if it is ready.
    var unreadinessReason: String? {
        get async {
            await determination().value(within: Self.maximumWait)
                ?? "The databases have not answered for \(Self.maximumWait / .seconds(1)) seconds. Check their storage, and the load."
        }
    }

    private func determination() -> SharedOutcome<String?> {
        let (reason, isNew) = latest.withLock { latest in
            if let latest, !latest.reason.hasEnded || .now - latest.start < Self.minimumInterval { return (latest.reason, false) }
            let next = Determination()
            latest = next
            return (next.reason, true)
        }
        // It serves all requests until it ends, not only the one that has begun it.
        if isNew { Task { reason.end(with: await service.unreadinessReason) } }
        return reason
    }
}
