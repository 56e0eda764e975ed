import HearthAPI
import Logging
import ServiceLifecycle

/// The log of a running server: the lines that it writes to standard error, and the entries that it keeps for admins.
struct ServerLog: Service {
    /// The entries for admins.
    let recent = RecentLog()
    /// The logger of the server.
    let logger: Logger
    /// The logger of what clients must not read, such as the path of the data folder.
    let processLogger: Logger
    /// The logger of requests, which is written at level info whatever level the log has.
    let accessLogger: Logger
    private let queue: LogQueue
    private let limit: RepetitionLimit

    /// The time after which repeated entries are written again.
    private static let period = Duration.seconds(10)

    init(_ options: ServeLogOptions, metrics: LogMetrics) {
        let queue = LogQueue(format: options.logFormat.resolved())
        let limit = RepetitionLimit()
        var output = LineLogHandler { queue.append($0) }
        output.logLevel = options.logLevel
        logger = Logger(label: "hearth") { [recent, output] _ in
            CountingLogHandler([output, recent.handler], limit: limit, metrics: metrics)
        }
        processLogger = Logger(label: "hearth") { [output] _ in CountingLogHandler([output], limit: limit, metrics: metrics) }
        // Not kept for admins: it would displace all else.
        accessLogger = Logger(label: "hearth") { _ in
            CountingLogHandler([LineLogHandler { queue.append($0) }], limit: limit, metrics: metrics)
        }
        self.queue = queue
        self.limit = limit
    }

    /// Logs the numbers of repeated entries that were not written.
    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.period)) != nil { logSuppressed() }
        }
    }

    /// Writes what waits to be written. Blocks the calling thread for two seconds at most.
    func close() {
        logSuppressed()
        queue.close()
    }

    private func logSuppressed() {
        for (message, count) in limit.beginPeriod() {
            logger.warning("\(message): \(count.grouped) more", metadata: ["log.suppressed.count": .stringConvertible(count)])
        }
    }
}

extension Int {
    /// The number with commas between groups of three digits.
    fileprivate var grouped: String {
        let digits = String(self)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return text
    }
}
