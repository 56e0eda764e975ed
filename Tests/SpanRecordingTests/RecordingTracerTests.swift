import Synchronization
import Testing
import Tracing

@testable import SpanRecording

@Suite("Recording tracer")
struct RecordingTracerTests {
    /// The records of the spans that have ended.
    private final class Records: Sendable {
        private let spans = Mutex<[SpanRecord]>([])
        var all: [SpanRecord] { spans.withLock { $0 } }

        func tracer(_ ratio: Double) -> RecordingTracer {
            RecordingTracer(sampleRatio: ratio) { span in self.spans.withLock { $0.append(span) } }
        }
    }

    private struct HeaderCarrier: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    }

    private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0"

    private func parent(isSampled: Bool) throws -> TraceContext {
        try #require(TraceContext(parents: [Self.parent + (isSampled ? "1" : "0")], states: ["s=1"]))
    }

    @Test
    func `Spans within others have them as parents, and share their trace`() throws {
        let records = Records()
        let tracer = records.tracer(1)
        tracer.withSpan("outer") { outer in
            outer.attributes["a"] = "b"
            tracer.withSpan("inner", ofKind: .client) { _ in }
        }
        let (inner, outer) = try #require(records.all.count == 2 ? (records.all[0], records.all[1]) : nil)
        #expect(inner.name == "inner" && inner.kind == .client && inner.parentID == outer.trace.spanID)
        #expect(outer.parentID == nil && inner.trace.traceID == outer.trace.traceID)
        #expect(outer.attributes["a"]?.toSpanAttribute() == .string("b"))
        #expect(outer.startTime <= inner.startTime && inner.endTime <= outer.endTime)
    }

    @Test(arguments: [0.0, 1.0])
    func `The trace of a caller is continued, but its flag doesn't decide`(ratio: Double) throws {
        for flag in [true, false] {
            let records = Records()
            let parent = try parent(isSampled: flag)
            let instant = DefaultTracerClock.now
            let span = records.tracer(ratio).startRequestSpan("r", parent: parent, at: instant)
            span.end()
            #expect(records.all.count == (ratio == 1 ? 1 : 0))
            #expect(span.trace.traceID == parent.traceID && span.trace.state == "s=1")
            #expect(records.all.allSatisfy { $0.parentID == parent.spanID })
        }
    }

    @Test
    func `A decision holds for all spans of the request that end after it`() throws {
        let records = Records()
        let span = records.tracer(0)
            .startRequestSpan("r", parent: try parent(isSampled: true), at: DefaultTracerClock.now)
        #expect(!span.isRecording)
        span.trace.sampling.isSampled = true
        span.makeChild("c", at: DefaultTracerClock.now).end()
        span.end()
        span.end()
        #expect(records.all.map(\.name) == ["c", "r"])
        #expect(!span.isRecording)
    }

    @Test
    func `Requests of clients get the headers of the span that sends them`() throws {
        let records = Records()
        let tracer = records.tracer(0)
        var context = ServiceContext.topLevel
        tracer.extract(["traceparent": Self.parent + "1", "tracestate": "s=1"], into: &context, using: HeaderCarrier())
        var headers: [String: String] = [:]
        let span = tracer.startSpan("s", context: context, ofKind: .client)
        tracer.inject(span.context, into: &headers, using: HeaderCarrier())
        #expect(headers["traceparent"] == "00-4bf92f3577b34da6a3ce929d0e0e4736-\(span.trace.spanID)-01")
        #expect(headers["tracestate"] == "s=1")
        var none: [String: String] = [:]
        tracer.inject(.topLevel, into: &none, using: HeaderCarrier())
        #expect(none.isEmpty)
    }

    @Test
    func `About as many traces are sampled as the ratio says`() {
        let records = Records()
        let tracer = records.tracer(0.25)
        for _ in 0..<4_000 { tracer.startSpan("s").end() }
        // Eight standard deviations.
        #expect((780...1_220).contains(records.all.count))
    }

    @Test
    func `An error is recorded without its text, and a span has a bounded number of events`() throws {
        struct SecretError: Error, CustomStringConvertible {
            let description = "secret"
        }
        let records = Records()
        #expect(throws: SecretError.self) {
            try records.tracer(1).withSpan("s") { span in
                for _ in 0..<1_000 { span.addEvent("e") }
                throw SecretError()
            }
        }
        let span = try #require(records.all.first)
        #expect(span.status?.code == .error && span.status?.message == nil)
        #expect(span.events.count == 128)
    }
}
