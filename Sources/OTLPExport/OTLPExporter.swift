internal import AsyncHTTPClient
internal import Gzip
package import Logging
internal import NIOCore
internal import NIOHTTP1
package import SpanRecording
internal import StrictJSON
internal import Synchronization
internal import UTF8Text

/// Sends recorded spans to an OpenTelemetry collector, by OTLP over HTTP with JSON
/// (https://opentelemetry.io/docs/specs/otlp/#otlphttp).
///
/// A request has at most 512 spans, and is sent when there are as many, or after 5 seconds. It is sent again for a minute while the
/// collector cannot be reached or is overloaded; meanwhile, the queue keeps the newest spans.
package struct OTLPExporter: Sendable {
    /// A collector, and the process that it is told about.
    package struct Configuration: Sendable {
        /// The URL that spans are sent to, such as `http://127.0.0.1:4318/v1/traces`.
        package var url: String
        /// Additional headers of requests, such as credentials.
        package var headers: [(name: String, value: String)] = []
        /// The attributes of the process.
        package var resource: [(key: String, value: String)]
        /// The version of the program.
        package var version: String
        /// The time after which spans are sent although there are few.
        package var interval = Duration.seconds(5)
        /// The time limit of a request.
        package var requestTimeout = Duration.seconds(10)
        /// The delay before the first repetition of a request; each further one is twice as long.
        package var firstRetryDelay = Duration.seconds(1)
        /// The longest time that a collector can ask for.
        package var maximumRetryAfter = Duration.seconds(300)
        /// The time for which a request is repeated.
        package var retryTimeout = Duration.seconds(60)
        /// The time limit for sending what is left at shutdown.
        package var shutdownTimeout = Duration.seconds(2)

        package init(url: String, resource: [(key: String, value: String)], version: String) {
            self.url = url
            self.resource = resource
            self.version = version
        }
    }

    /// The result of a request.
    private enum Outcome {
        case accepted(rejectedCount: Int, message: String)
        /// The request may succeed later: after a delay that the collector has named, or any.
        case unavailable(reason: String, retryAfter: Duration?)
        case refused(reason: String)
        case cancelled
    }

    private let configuration: Configuration
    private let encoder: OTLPEncoder
    private let queue: SpanQueue
    private let client: HTTPClient
    private let state: ExportState
    private let record: @Sendable (SpanOutcome, Int) -> Void

    /// The maximum size of a response.
    private static let maximumResponseBytes = 64 << 10
    private static let maximumRetryDelay = Duration.seconds(30)

    /// Creates an exporter, which sends once it runs.
    ///
    /// - Parameter record: Counts spans by outcome, on any thread.
    package init(
        _ configuration: Configuration,
        queue: SpanQueue,
        logger: Logger,
        record: @escaping @Sendable (SpanOutcome, Int) -> Void
    ) {
        self.configuration = configuration
        self.queue = queue
        self.record = record
        encoder = OTLPEncoder(version: configuration.version, resource: configuration.resource)
        state = ExportState(logger: logger)
        var client = HTTPClient.Configuration()
        client.redirectConfiguration = .disallow
        // A connection that is being established also holds up the end of the client.
        client.timeout = .init(connect: .seconds(2))
        // Else each export would make a span.
        client.tracing.tracer = nil
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: client)
    }

    /// Sends spans until the task is cancelled. What is left then is sent by ``shutDown()``.
    package func run() async {
        await withTaskGroup { group in
            group.addTask { [queue, interval = configuration.interval] in
                while (try? await Task.sleep(for: interval)) != nil { queue.signal() }
            }
            for await _ in queue.completions {
                // Only what is there now: what comes while it is sent waits until a batch is complete, or for the interval.
                var left = queue.count
                while left > 0, !Task.isCancelled {
                    let batch = queue.removeBatch()
                    if batch.isEmpty { break }
                    left -= batch.count
                    await send(batch)
                }
            }
            group.cancelAll()
        }
    }

    /// Sends what is left, without repetition and for a bounded time, and closes the connections.
    package func shutDown() async {
        let end = ContinuousClock.now + configuration.shutdownTimeout
        while true {
            let batch = queue.removeBatch()
            if batch.isEmpty { break }
            let left = end - .now
            guard left > .zero else {
                record(.failed, batch.count)
                continue
            }
            let outcome = await post(body(of: batch), timeout: left)
            if case .cancelled = outcome { record(.failed, batch.count) } else { finish(batch, outcome) }
        }
        try? await client.shutdown()
    }

    /// Returns whether a header can be sent with a value.
    package static func isHeader(_ name: String, _ value: String) -> Bool {
        let separators = Set("()<>@,;:\\\"/[]?={} ".utf8)
        return !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7e).contains($0) && !separators.contains($0) }
            && value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }

    /// Sends a batch, and repeats the request as long as it may succeed later.
    private func send(_ batch: [SpanRecord]) async {
        let body = body(of: batch)
        let end = ContinuousClock.now + configuration.retryTimeout
        var delay = configuration.firstRetryDelay
        while true {
            let outcome = await post(body, timeout: configuration.requestTimeout)
            guard case .unavailable(let reason, let retryAfter) = outcome else { return finish(batch, outcome) }
            state.recordFailure(reason)
            let pause = max(delay * Double.random(in: 0.8...1.2), min(retryAfter ?? .zero, configuration.maximumRetryAfter))
            // Also before a batch is given up: the next one must not come earlier than the collector says.
            guard (try? await Task.sleep(for: pause)) != nil else { return finish(batch, .cancelled) }
            guard ContinuousClock.now < end else { return finish(batch, .refused(reason: reason)) }
            delay = min(delay * 2, Self.maximumRetryDelay)
        }
    }

    private func finish(_ batch: [SpanRecord], _ outcome: Outcome) {
        switch outcome {
        case .accepted(let rejectedCount, let message):
            let rejectedCount = min(max(0, rejectedCount), batch.count)
            record(.exported, batch.count - rejectedCount)
            if rejectedCount > 0 { record(.rejected, rejectedCount) }
            state.recordSuccess(rejectedCount: rejectedCount, message: message)
        case .refused(let reason), .unavailable(let reason, _):
            record(.failed, batch.count)
            state.recordFailure(reason)
        case .cancelled:
            queue.putBack(batch)
        }
    }

    private func body(of batch: [SpanRecord]) -> ByteBuffer {
        ByteBuffer(bytes: GzipCompressor.compress(encoder.encode(batch)))
    }

    /// Sends a request once.
    ///
    /// - Parameter timeout: The time limit for the request and the whole of its response.
    private func post(_ body: ByteBuffer, timeout: Duration) async -> Outcome {
        await withTaskGroup { group in
            group.addTask { await exchange(body) }
            group.addTask {
                guard (try? await Task.sleep(for: timeout)) != nil else { return .cancelled }
                return .unavailable(reason: "no complete response in time", retryAfter: nil)
            }
            let outcome = await group.next() ?? .cancelled
            group.cancelAll()
            return outcome
        }
    }

    private func exchange(_ body: ByteBuffer) async -> Outcome {
        var request = HTTPClientRequest(url: configuration.url)
        request.method = .POST
        request.headers = ["Content-Type": "application/json", "Content-Encoding": "gzip"]
        for (name, value) in configuration.headers { request.headers.replaceOrAdd(name: name, value: value) }
        request.body = .bytes(body)
        do {
            let response = try await client.execute(request, deadline: .distantFuture)
            let status = response.status.code
            switch status {
            case 200..<300:
                let body = try await response.body.collect(upTo: Self.maximumResponseBytes)
                return Self.accepted(Array(body.readableBytesView))
            case 429, 502, 503, 504:
                let seconds = response.headers.first(name: "Retry-After").flatMap { Int($0) }
                return .unavailable(reason: "status \(status)", retryAfter: seconds.map { .seconds(max(0, $0)) })
            default:
                return .refused(reason: "status \(status)")
            }
        } catch is CancellationError {
            return .cancelled
        } catch {
            if Task.isCancelled { return .cancelled }
            return .unavailable(reason: "\(error)", retryAfter: nil)
        }
    }

    /// Reads what a collector says about the spans that it has not accepted.
    private static func accepted(_ body: [UInt8]) -> Outcome {
        guard let json = try? JSONText(body),
            let partial = json.root.members?.first(where: { $0.0 == "partialSuccess" })?.1.members
        else { return .accepted(rejectedCount: 0, message: "") }
        var (count, message) = (0, "")
        for (name, value) in partial {
            if name == "errorMessage" { message = value.string ?? "" }
            guard name == "rejectedSpans" else { continue }
            // 64-bit integers are strings in the JSON of Protocol Buffers; some collectors send numbers.
            if let text = value.string { count = Int(text) ?? 0 }
            if case .integer(let number) = value.number { count = Int(number) }
        }
        return .accepted(rejectedCount: count, message: message)
    }
}

/// The state of the exports, which the log tells when it changes.
private final class ExportState: Sendable {
    private let isFailing = Mutex(false)
    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func recordFailure(_ reason: String) {
        let isNew = isFailing.withLock { isFailing in
            defer { isFailing = true }
            return !isFailing
        }
        guard isNew else { return }
        logger.warning(
            "Cannot export traces; spans may be lost until the collector accepts them",
            metadata: ["error": "\(reason)"]
        )
    }

    func recordSuccess(rejectedCount: Int, message: String) {
        let wasFailing = isFailing.withLock { isFailing in
            defer { isFailing = false }
            return isFailing
        }
        if wasFailing { logger.notice("The collector accepts traces again") }
        guard rejectedCount > 0 || !message.isEmpty else { return }
        logger.warning(
            "The collector has not accepted all spans",
            metadata: [
                "span.rejected.count": .stringConvertible(rejectedCount), "error": "\(Excerpt(message, maximumBytes: 1_000))",
            ]
        )
    }
}
