package import Tracing

/// The tracer of a process: starts spans, and passes on the records of those that have ended in sampled traces.
///
/// A trace is sampled at its beginning: as its parent is, or at random.
package struct RecordingTracer: Tracer {
    package typealias Span = RecordedSpan

    /// The part of the traces without a parent that are sampled, from 0 to 1.
    private let sampleRatio: Double
    private let onEnd: @Sendable (SpanRecord) -> Void

    /// Creates a tracer.
    ///
    /// - Parameters:
    ///   - sampleRatio: The part of the traces without a parent that are sampled, from 0 to 1.
    ///   - onEnd: Receives the spans that have ended, on any thread. Must not wait.
    package init(sampleRatio: Double, onEnd: @escaping @Sendable (SpanRecord) -> Void) {
        self.sampleRatio = sampleRatio
        self.onEnd = onEnd
    }

    package func startSpan<Instant: TracerInstant>(
        _ operationName: String,
        context: @autoclosure () -> ServiceContext,
        ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant,
        function: String,
        file fileID: String,
        line: UInt
    ) -> RecordedSpan {
        let context = context()
        let trace = context.trace?.makeChild() ?? TraceContext(traceID: TraceID(), spanID: SpanID(), sampling: makeDecision())
        return RecordedSpan(
            operationName,
            trace,
            parentID: context.trace?.spanID,
            in: context,
            kind: kind,
            startTime: instant().nanosecondsSinceEpoch,
            onEnd: onEnd
        )
    }

    /// Starts the span of a request.
    ///
    /// - Parameters:
    ///   - parent: The caller's span. Its trace is continued, but sampled at random, since its flag would let anyone cause the cost of
    ///     all spans. Who learns that the caller may decide changes ``TraceContext/sampling``.
    package func startRequestSpan(
        _ name: String,
        parent: TraceContext?,
        at instant: some TracerInstant
    ) -> RecordedSpan {
        let trace = TraceContext(
            traceID: parent?.traceID ?? TraceID(),
            spanID: SpanID(),
            sampling: makeDecision(),
            state: parent?.state ?? ""
        )
        return RecordedSpan(
            name,
            trace,
            parentID: parent?.spanID,
            in: .topLevel,
            kind: .server,
            startTime: instant.nanosecondsSinceEpoch,
            onEnd: onEnd
        )
    }

    private func makeDecision() -> SamplingDecision {
        SamplingDecision(isSampled: sampleRatio > 0 && Double.random(in: 0..<1) < sampleRatio)
    }

    /// Spans are passed on as they end.
    package func forceFlush() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier,
        into context: inout ServiceContext,
        using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: TraceContext.parentHeader, from: carrier) else { return }
        let state = extractor.extract(key: TraceContext.stateHeader, from: carrier)
        if let trace = TraceContext(parents: [parent], states: state.map { [$0] } ?? []) { context.trace = trace }
    }

    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext,
        into carrier: inout Carrier,
        using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent, forKey: TraceContext.parentHeader, into: &carrier)
        if !trace.state.isEmpty { injector.inject(trace.state, forKey: TraceContext.stateHeader, into: &carrier) }
    }
}
