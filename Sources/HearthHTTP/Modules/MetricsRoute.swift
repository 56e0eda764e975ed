import DocumentModel
import HTTPTypes
import HearthAPI
import HummingbirdCore
import NIOCore
import PrometheusMetrics

/// `GET /metrics`: the metrics of the server, in Prometheus' text format or as OpenMetrics.
///
/// They are read from memory, without waiting for the store.
struct MetricsRoute: Sendable {
    let registry: MetricsRegistry

    var policy: RoutePolicy {
        var policy = RoutePolicy()
        policy.access = .authenticated
        policy.allowsAnyLocalHost = true
        policy.sessionCookies = .ignored
        policy.runsOnEventLoop = true
        policy.origins = RoutePolicy.OriginRules(crossOrigin: nil, allowsLinks: false, forms: .none)
        return policy
    }

    /// Responds with all families.
    ///
    /// - Throws: ``HTTPFailure``: 403 for a key that is restricted to collections, since metrics are about all of them.
    func respond(to request: Request, in context: HearthRequestContext) throws(HTTPFailure) -> Response {
        guard context.caller.collections == nil, !context.caller.isEndUser else {
            throw HTTPFailure(
                .forbidden,
                .permissionDenied,
                "Metrics are about all collections, and require a key that is not restricted to some."
            )
        }
        let format = request.acceptsOpenMetrics ? ExpositionFormat.openMetrics : .text
        return Response(
            status: .ok,
            headers: [.contentType: format.contentType, .vary: "Accept"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: registry.text(format)))
        )
    }
}

extension Request {
    /// True if the client prefers OpenMetrics, as far as it says so by naming it.
    fileprivate var acceptsOpenMetrics: Bool {
        HeaderListElement.list(headers[.accept]).contains { $0.hasValue("application/openmetrics-text") && !$0.isUnacceptable }
    }
}
