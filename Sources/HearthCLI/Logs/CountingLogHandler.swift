import HearthAPI
import Logging

/// A log handler that counts entries by level, and passes them on within a ``RepetitionLimit``.
struct CountingLogHandler: LogHandler {
    private var base: MultiplexLogHandler
    private let limit: RepetitionLimit
    private let metrics: LogMetrics

    init(_ handlers: [any LogHandler], limit: RepetitionLimit, metrics: LogMetrics) {
        base = MultiplexLogHandler(handlers)
        self.limit = limit
        self.metrics = metrics
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        metrics.count(event.level)
        if limit.passes(event.message.description, level: event.level) { base.log(event: event) }
    }
}
