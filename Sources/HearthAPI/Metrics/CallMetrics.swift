package import Concurrency
import DocumentModel
import JSONRPC
package import PrometheusMetrics
import UTF8Text

/// The numbers and durations of calls of an API, by method and status.
package struct CallMetrics: Sendable {
    private let methods: [String]
    private let calls: CounterFamily
    private let seconds: HistogramFamily

    /// The status of a call that succeeded.
    package static let ok = "OK"
    /// The names of the statuses: the index of each is the number of its ``StatusCode``, 0 for ``ok``.
    private static let statuses = [ok] + StatusCode.allCases.sorted { $0.rawValue < $1.rawValue }.map(\.name)
    /// The statuses that are exported from the start, since alerts are about them.
    private static let initialStatuses: Set<String> = [ok, StatusCode.internal.name, StatusCode.unavailable.name]

    /// Declares the families of an API.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the families' names.
    ///   - methods: The names of all methods; calls of others are counted as one.
    package init(_ registry: MetricsRegistry, prefix: String, api: String, methods: [String]) {
        self.methods = methods
        let method = MetricLabel("method", methods)
        calls = registry.counters(
            "\(prefix)_calls_total",
            "\(api) calls, by method and status.",
            [method, MetricLabel("code", Self.statuses)]
        ) { values in values[0] != MetricLabel.other && Self.initialStatuses.contains(values[1]) }
        seconds = registry.histograms("\(prefix)_call_seconds", "Durations of \(api) calls.", method)
    }

    /// Declares the families of JSON-RPC calls.
    init(_ registry: MetricsRegistry) {
        self.init(registry, prefix: "hearth_rpc", api: "JSON-RPC", methods: HearthMethods.table.methods.map(\.name.string))
    }

    /// Records in the trace of the request that a call of a method begins.
    ///
    /// - Parameters:
    ///   - method: The index of its method among the declared ones; `nil` for another one.
    ///   - service: The service of the method, if the protocol has services.
    ///   - system: The protocol: `jsonrpc`, `grpc` or `firestore_rest`.
    package func begin(method: Int?, of service: String? = nil, system: String) {
        guard let trace = RequestTrace.current else { return }
        let prefix = service.map { "\($0)/" } ?? ""
        trace.beginCall(of: method.map { prefix + methods[$0] } ?? Self.otherMethod, system: system)
    }

    /// The name of methods that do not exist in spans, by OpenTelemetry's conventions.
    private static let otherMethod = "_OTHER"

    /// Records a JSON-RPC call that has ended.
    func record(_ call: EndedCall) {
        record(method: call.method, status: call.error.map { Self.status(of: $0) } ?? 0, duration: call.time)
    }

    private static func status(of error: RPCErrorCode) -> Int {
        if StatusCode(rawValue: error.rawValue) != nil { return error.rawValue }
        let code: StatusCode =
            switch error {
            case .internalError: .internal
            case .methodNotFound: .unimplemented
            default: .invalidArgument
            }
        return code.rawValue
    }

    /// Records a call that has ended.
    ///
    /// - Parameters:
    ///   - method: The index of its method among the declared ones; `nil` for another one.
    ///   - status: The number of its ``StatusCode``; 0 if it succeeded.
    ///   - duration: Its duration; `nil` for a stream, and for a call that was not executed.
    package func record(method: Int?, status: Int, duration: Stopwatch?) {
        calls.increment(method ?? .max, status)
        RequestTrace.current?.recordCall(
            of: method.map { methods[$0] } ?? MetricLabel.other,
            failure: status == 0 ? nil : Self.statuses[status]
        )
        if let duration, let method { seconds[method].record(duration.nanoseconds) }
    }
}
