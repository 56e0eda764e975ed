import Concurrency
import DocumentModel
import HearthAPI
import HearthHTTP
import PrometheusMetrics
import UTF8Text

/// The numbers and durations of calls over gRPC.
struct GRPCMetrics: Sendable {
    private let calls: CallMetrics
    private let indexes: [UTF8Key: Int]

    /// Declares the families for the methods of services, which are told apart by their names without the service.
    init(_ registry: MetricsRegistry, _ services: [GRPCService]) {
        let names = Set(services.flatMap(\.methods.keys)).map(\.string).sorted()
        calls = CallMetrics(registry, prefix: "hearth_grpc", api: "gRPC", methods: names)
        indexes = Dictionary(uniqueKeysWithValues: names.enumerated().map { (UTF8Key($1), $0) })
    }

    /// Records in the trace of the request that a call of a method begins.
    func begin(_ method: UTF8Key, of service: String) {
        calls.begin(method: indexes[method], of: service, system: "grpc")
    }

    /// Records a call of a method that has ended with a status.
    ///
    /// - Parameter time: The time since its execution began; `nil` for a stream, and for a call that was not executed.
    func record(_ method: UTF8Key, _ status: GRPCStatus, time: Stopwatch?) {
        calls.record(method: indexes[method], status: status.code?.rawValue ?? 0, duration: time)
    }

    /// Records a call that has ended with an error before its first message.
    func record(_ method: UTF8Key, _ error: any Error, in requestContext: HearthRequestContext, time: Stopwatch?) {
        let status: GRPCStatus =
            switch error {
            case let status as GRPCStatus: status
            case let error as StatusError: GRPCStatus(error)
            // An unexpected error becomes an internal one.
            default: HTTPFailure(for: error, in: requestContext).map { GRPCStatus($0) } ?? GRPCStatus(.internal, "")
            }
        record(method, status, time: time)
    }
}
