internal import Synchronization
package import Tracing

/// A span in progress. When it ends and its trace is sampled, its record is passed on; otherwise it is discarded.
package final class RecordedSpan: Span {
    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var status: SpanStatus?
        var events: [SpanEvent] = []
        var links: [SpanLink] = []
        var hasEnded = false
    }

    package let context: ServiceContext
    /// The IDs of the span.
    package let trace: TraceContext
    private let parentID: SpanID?
    private let kind: SpanKind
    private let startTime: UInt64
    private let state: Mutex<State>
    private let onEnd: @Sendable (SpanRecord) -> Void

    /// The maximum number of events, and of links, that a span keeps.
    private static let maximumEvents = 128

    init(
        _ name: String,
        _ trace: TraceContext,
        parentID: SpanID?,
        in context: ServiceContext,
        kind: SpanKind,
        startTime: UInt64,
        onEnd: @escaping @Sendable (SpanRecord) -> Void
    ) {
        var context = context
        context.trace = trace
        self.context = context
        self.trace = trace
        self.parentID = parentID
        self.kind = kind
        self.startTime = startTime
        self.onEnd = onEnd
        state = Mutex(State(name: name))
    }

    /// True if the span is sampled and has not ended.
    package var isRecording: Bool { trace.isSampled && !state.withLock(\.hasEnded) }

    package var operationName: String {
        get { state.withLock(\.name) }
        set { state.withLock { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock(\.attributes) }
        set { state.withLock { $0.attributes = newValue } }
    }

    package func setStatus(_ status: SpanStatus) {
        state.withLock { $0.status = status }
    }

    package func addEvent(_ event: SpanEvent) {
        state.withLock { if $0.events.count < Self.maximumEvents { $0.events.append(event) } }
    }

    package func addLink(_ link: SpanLink) {
        state.withLock { if $0.links.count < Self.maximumEvents { $0.links.append(link) } }
    }

    package func recordError<Instant: TracerInstant>(
        _ error: any Error,
        attributes: SpanAttributes,
        at instant: @autoclosure () -> Instant
    ) {
        // The text of an error may have what a client has sent.
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
        setStatus(SpanStatus(code: .error))
    }

    /// Ends the span. Later calls do nothing.
    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let ended: State? = state.withLock { state in
            defer { state.hasEnded = true }
            return state.hasEnded ? nil : state
        }
        guard let ended, trace.isSampled else { return }
        onEnd(
            SpanRecord(
                trace: trace,
                parentID: parentID,
                name: ended.name,
                kind: kind,
                startTime: startTime,
                endTime: max(startTime, instant().nanosecondsSinceEpoch),
                attributes: ended.attributes,
                status: ended.status,
                events: ended.events,
                links: ended.links
            )
        )
    }
}

/// A span that has ended.
package struct SpanRecord: Sendable {
    package let trace: TraceContext
    /// The ID of the parent, in this process or in that of the caller; `nil` for the first span of a trace.
    package let parentID: SpanID?
    package let name: String
    package let kind: SpanKind
    /// The time of the start, in nanoseconds of Unix time.
    package let startTime: UInt64
    /// The time of the end, in nanoseconds of Unix time.
    package let endTime: UInt64
    package let attributes: SpanAttributes
    package let status: SpanStatus?
    package let events: [SpanEvent]
    package let links: [SpanLink]
}

extension RecordedSpan {
    /// Calls `body` with the span as the current one, which is the parent of those that clients start.
    package func asCurrent<Result>(_ body: () -> Result) -> Result {
        ServiceContext.withValue(context, operation: body)
    }

    /// Starts a span below this one.
    package func makeChild(_ name: String, at instant: some TracerInstant) -> RecordedSpan {
        RecordedSpan(
            name,
            trace.makeChild(),
            parentID: trace.spanID,
            in: context,
            kind: .internal,
            startTime: instant.nanosecondsSinceEpoch,
            onEnd: onEnd
        )
    }
}
