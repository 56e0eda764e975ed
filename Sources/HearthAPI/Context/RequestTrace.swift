package import Concurrency
package import DocumentModel
import DocumentStore
package import SpanRecording
import Synchronization
import Tracing

/// The facts about a request in progress that the access log, the log of slow calls and the audit log name, and its spans.
///
/// Exists only while one of them is on. The parts of the server that learn a fact add it to ``current``.
package final class RequestTrace: Sendable {
    /// The facts that become known while the request is processed.
    package struct Facts: Sendable {
        /// The address of the client.
        package var clientAddress: String?
        /// The authenticated caller.
        package var caller: Caller?
        /// The database of the last call.
        package var database: DatabaseID?
        /// The methods of the API that were called, the first ones only, and the number of all.
        package fileprivate(set) var methods: [String] = []
        package fileprivate(set) var callCount = 0
        /// The status of the last call that failed.
        package fileprivate(set) var failure: String?
        /// The plan of the query that read most, and what all queries read.
        package fileprivate(set) var plan: [String] = []
        package fileprivate(set) var entriesScanned = 0
        package fileprivate(set) var documentsRead = 0
        fileprivate var planCost = -1
        /// The span of the call in progress.
        fileprivate var call: RecordedSpan?
    }

    /// The request that the current task works for.
    @TaskLocal package static var current: RequestTrace?

    /// The ID of the request.
    package let requestID: String
    /// The time since the head of the request was received.
    package let time = Stopwatch()
    /// The span of the request; `nil` if traces are off.
    package let span: RecordedSpan?
    /// The caller's span, as the request names it.
    private let remoteParent: TraceContext?
    /// The time at which the head of the request was received, in nanoseconds of Unix time.
    private let startTime: UInt64
    private let state = Mutex(Facts())

    /// The number of methods of a batch that are named.
    private static let maximumMethodCount = 8

    /// Creates the trace of a request whose head has been received.
    ///
    /// - Parameters:
    ///   - parent: The caller's span, as the request names it.
    ///   - tracer: The tracer; `nil` if traces are off.
    package init(requestID: String, parent: TraceContext? = nil, tracer: RecordingTracer? = nil) {
        self.requestID = requestID
        remoteParent = parent
        startTime = tracer == nil ? 0 : DefaultTracerClock.now.nanosecondsSinceEpoch
        let start = Instant(nanosecondsSinceEpoch: startTime)
        span = tracer?.startRequestSpan("HTTP", parent: parent, at: start)
    }

    package var facts: Facts { state.withLock { $0 } }

    /// Adds facts.
    package func update(_ change: (inout Facts) -> Void) {
        state.withLock { change(&$0) }
    }

    /// Records a call of a method.
    ///
    /// - Parameter failure: The name of its status; `nil` if it succeeded.
    func recordCall(of method: String, failure: String?) {
        let call = state.withLock { facts -> RecordedSpan? in
            facts.callCount += 1
            if facts.methods.count < Self.maximumMethodCount { facts.methods.append(method) }
            if let failure { facts.failure = failure }
            defer { facts.call = nil }
            return facts.call
        }
        if let call { end(call, status: failure) }
    }

    /// Adds the cost of a query to the facts.
    private func addQuery(_ metrics: QueryMetrics) {
        update { facts in
            let cost = metrics.entriesScanned + metrics.documentsRead
            facts.entriesScanned += metrics.entriesScanned
            facts.documentsRead += metrics.documentsRead
            guard cost > facts.planCost else { return }
            facts.planCost = cost
            facts.plan = metrics.plan
        }
    }
}

// MARK: - Spans

extension RequestTrace {
    private typealias Instant = DefaultTracerClock.Timestamp

    /// The ID of the trace, for the log: of the one that the caller has begun, or of a new one that is sampled; `nil` otherwise.
    package var traceID: String? {
        if let remoteParent { return "\(remoteParent.traceID)" }
        return span.flatMap { $0.trace.isSampled ? "\($0.trace.traceID)" : nil }
    }

    /// Records who the caller is. The decision to sample a trace counts from callers who hold a key, or may do everything anyhow.
    package func recordCaller(_ caller: Caller) {
        update { $0.caller = caller }
        guard let span, let remoteParent, caller.mayDecideSampling else { return }
        span.trace.sampling.isSampled = remoteParent.isSampled
    }

    /// The current time on the clock of the request's spans, on which none ends before it starts.
    private var now: Instant { Instant(nanosecondsSinceEpoch: startTime &+ time.nanoseconds) }

    /// The span of the call in progress, or of the request; `nil` if none is recorded.
    private var openSpan: RecordedSpan? {
        guard let span, span.isRecording else { return nil }
        return state.withLock(\.call) ?? span
    }

    /// Begins the span of a call. ``recordCall(of:failure:)`` ends it.
    ///
    /// - Parameter system: The protocol: `jsonrpc`, `grpc` or `firestore_rest`.
    func beginCall(of method: String, system: String) {
        guard let span, span.isRecording else { return }
        let call = span.makeChild(method, at: now)
        call.attributes = ["rpc.system.name": .string(system), "rpc.method": .string(method)]
        update { $0.call = call }
    }

    private func end(_ call: RecordedSpan, status: String?) {
        call.attributes["rpc.response.status_code"] = status ?? CallMetrics.ok
        if let status, Self.serverErrors.contains(status) {
            call.attributes["error.type"] = status
            call.setStatus(SpanStatus(code: .error))
        }
        call.end(at: now)
    }

    /// The statuses that are errors of the server, not of its client, by OpenTelemetry's conventions for gRPC: also that of a method that
    /// does not exist.
    private static let serverErrors = StatusCode.serverErrorNames.union([StatusCode.unimplemented.name])

    /// Records an operation of the store that has just ended as a span.
    ///
    /// - Parameters:
    ///   - duration: Its duration in nanoseconds.
    ///   - attributes: Attributes without names of collections or documents, and without their contents.
    /// - Returns: The span, and the time of its end; `nil` if it is not recorded.
    @discardableResult
    private func recordOperation(
        _ name: String,
        duration: UInt64,
        error: StatusError? = nil,
        attributes: SpanAttributes = [:]
    ) -> (RecordedSpan, end: Instant)? {
        guard let parent = openSpan else { return nil }
        let end = now
        let span = parent.makeChild(name, at: end.earlier(by: duration))
        var attributes = attributes
        attributes["db.system.name"] = "hearth"
        attributes["db.operation.name"] = name
        if let database = state.withLock(\.database) { attributes["db.namespace"] = "\(database)" }
        if let error { attributes["db.response.status_code"] = error.code.name }
        span.attributes = attributes
        if let error, Self.serverErrors.contains(error.code.name) { span.setStatus(SpanStatus(code: .error)) }
        span.end(at: end)
        return (span, end)
    }

    /// Records a query that has just ended.
    ///
    /// - Parameters:
    ///   - name: Its operation.
    ///   - time: The time since it began.
    func recordQuery(_ name: String, _ time: Stopwatch, _ result: Result<QueryMetrics, StatusError>) {
        var attributes: SpanAttributes = [:]
        var failure: StatusError?
        switch result {
        case .success(let metrics):
            addQuery(metrics)
            attributes["db.query.entries_scanned"] = metrics.entriesScanned
            attributes["db.query.documents_read"] = metrics.documentsRead
            if !metrics.plan.isEmpty { attributes["db.query.plan"] = metrics.plan.joined(separator: "; ") }
        case .failure(let error): failure = error
        }
        recordOperation(name, duration: time.nanoseconds, error: failure, attributes: attributes)
    }

    /// Records a commit that has just become durable, with the sync that made it so, or has failed.
    func recordCommit(
        writeCount: Int,
        period: Range<ContinuousClock.Instant>,
        sync: Range<ContinuousClock.Instant>?,
        error: StatusError? = nil
    ) {
        let duration = (period.upperBound - period.lowerBound).wholeNanoseconds
        let attributes: SpanAttributes = ["db.operation.batch.size": .int64(Int64(writeCount))]
        let recorded = recordOperation("commit", duration: duration, error: error, attributes: attributes)
        guard let (span, end) = recorded, let sync else { return }
        let syncEnd = end.earlier(by: (period.upperBound - sync.upperBound).wholeNanoseconds)
        let part = span.makeChild("journal sync", at: syncEnd.earlier(by: (sync.upperBound - sync.lowerBound).wholeNanoseconds))
        part.end(at: syncEnd)
    }

    /// Ends the span of the request, when its response has been sent, or its stream has been opened.
    ///
    /// - Parameters:
    ///   - method: The method, if it is a known one.
    ///   - route: The pattern of the route; empty for an unlisted path.
    package func endRequest(method: String?, route: String, status: Int, isSecure: Bool, isComplete: Bool) {
        guard let span, span.isRecording else { return }
        span.operationName = [method ?? "HTTP", route].filter { !$0.isEmpty }.joined(separator: " ")
        span.attributes = [
            "http.request.method": .string(method ?? "_OTHER"), "http.response.status_code": .int64(Int64(status)),
            "url.scheme": isSecure ? "https" : "http", "http.request.id": .string(requestID),
        ]
        if !route.isEmpty { span.attributes["http.route"] = route }
        if status >= 500 || !isComplete {
            span.attributes["error.type"] = status >= 500 ? "\(status)" : "incomplete_response"
            span.setStatus(SpanStatus(code: .error))
        }
        span.end(at: now)
    }
}

extension DefaultTracerClock.Timestamp {
    /// Returns the instant a number of nanoseconds before.
    fileprivate func earlier(by nanoseconds: UInt64) -> Self {
        Self(nanosecondsSinceEpoch: nanosecondsSinceEpoch - min(nanoseconds, nanosecondsSinceEpoch))
    }
}

extension Duration {
    /// The duration in nanoseconds; zero if it is negative.
    fileprivate var wholeNanoseconds: UInt64 { UInt64(max(0, self / .nanoseconds(1))) }
}

extension Caller {
    /// True for callers whose decision to sample a trace counts.
    fileprivate var mayDecideSampling: Bool {
        switch identity {
        case .key, .system, .openAccess, .emulatorOwner: true
        case .unauthenticated, .endUser: false
        }
    }
}
