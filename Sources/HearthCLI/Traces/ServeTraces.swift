import DocumentModel
import HearthAPI
import Logging
import OTLPExport
import ServiceLifecycle
import SpanRecording
import Tracing

/// The traces of a server: the tracer of its requests, and the export of their spans.
struct ServeTraces: Service {
    /// The tracer.
    let tracer: RecordingTracer
    private let configuration: OTLPExporter.Configuration
    private let queue: SpanQueue
    private let metrics: TraceMetrics
    private let logger: Logger

    /// Prepares the traces, and makes libraries trace their requests to other servers; `nil` if traces are off. Called once.
    ///
    /// - Throws: An error for headers that are invalid or cannot be read.
    init?(_ options: ServeTraceOptions, metrics: TraceMetrics, logger: Logger) throws(StatusError) {
        guard let configuration = try options.export(version: ServerDescription.version) else { return nil }
        let queue = SpanQueue { metrics.count($0, $1) }
        self.configuration = configuration
        self.queue = queue
        self.metrics = metrics
        self.logger = logger
        tracer = RecordingTracer(sampleRatio: options.traceSampleRatio) { queue.append($0) }
        InstrumentationSystem.bootstrap(tracer)
        logger.notice(
            "Exporting traces",
            metadata: ["trace.sample_ratio": .stringConvertible(options.traceSampleRatio), "url.full": "\(configuration.url)"]
        )
    }

    /// Exports spans until graceful shutdown, and then those that are left.
    func run() async throws {
        let exporter = OTLPExporter(configuration, queue: queue, logger: logger) { metrics.count($0, $1) }
        await cancelWhenGracefulShutdown { await exporter.run() }
        await exporter.shutDown()
    }
}
