import Concurrency
import HTTPTypes
import HummingbirdCore
import PrometheusMetrics

/// The metrics of requests: their number and the time until their responses.
struct HTTPMetrics: Sendable {
    private let requests: CounterFamily
    private let seconds: HistogramFamily

    /// The methods, and the first digits of statuses, in the order of their indexes.
    static let methods: [HTTPRequest.Method] = [.get, .post, .head, .put, .patch, .delete, .options]
    private static let classes = ["1xx", "2xx", "3xx", "4xx", "5xx"]
    /// The classes that are exported from the start.
    private static let initialClasses: Set<String> = ["2xx", "4xx", "5xx"]

    /// Declares the families for the routes of a table.
    init(_ registry: MetricsRegistry, routes: RouteTable) {
        let route = MetricLabel("route", routes.all.map(\.pattern))
        let methods = Dictionary(
            routes.all.map { ($0.pattern, Set(($0.methods ?? [.get, .post]).map(\.rawValue))) },
            uniquingKeysWith: { $1 }
        )
        requests = registry.counters(
            "hearth_http_requests_total",
            "Requests whose responses have begun, by the pattern of their route, method and class of status.",
            [route, MetricLabel("method", Self.methods.map(\.rawValue)), MetricLabel("code", Self.classes)]
        ) { values in methods[values[0]]?.contains(values[1]) == true && Self.initialClasses.contains(values[2]) }
        seconds = registry.histograms(
            "hearth_http_request_seconds",
            "Times from the complete head of a request until its response was ready to be sent, without streams.",
            route
        )
    }

    /// Records the response to a request.
    ///
    /// - Parameter time: The time since the request began.
    func record(_ request: Request, _ response: Response, in context: HearthRequestContext, time: Stopwatch) {
        let method = Self.methods.firstIndex(of: request.method) ?? .max
        requests.increment(context.routeIndex, method, response.status.code / 100 - 1)
        guard response.body.contentLength != nil, !context.route.policy.isStream else { return }
        seconds[context.routeIndex].record(time.nanoseconds)
    }
}
