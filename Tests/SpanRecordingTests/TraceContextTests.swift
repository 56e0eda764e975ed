import Testing
import Tracing

@testable import SpanRecording

@Suite("W3C trace context")
struct TraceContextTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let spanID = "00f067aa0ba902b7"
    private static let parent = "00-\(traceID)-\(spanID)-01"

    private func parse(_ parents: [String], _ states: [String] = []) -> TraceContext? {
        TraceContext(parents: parents, states: states)
    }

    @Test
    func `The IDs and the flag are those of the header, and are written as they were read`() throws {
        let context = try #require(parse([Self.parent], ["a=1", "b=2"]))
        #expect("\(context.traceID)" == Self.traceID)
        #expect("\(context.spanID)" == Self.spanID)
        #expect(context.isSampled)
        #expect(context.state == "a=1,b=2")
        #expect(context.traceparent == Self.parent)
    }

    @Test(arguments: [("00", false), ("01", true), ("02", false), ("03", true), ("fe", false), ("ff", true)])
    func `Only the lowest bit of the flags tells whether the trace is sampled`(flags: String, isSampled: Bool) throws {
        let context = try #require(parse(["00-\(Self.traceID)-\(Self.spanID)-\(flags)"]))
        #expect(context.isSampled == isSampled)
    }

    @Test(arguments: ["01-\(traceID)-\(spanID)-01", "01-\(traceID)-\(spanID)-01-more", "fe-\(traceID)-\(spanID)-01-"])
    func `Later versions may append fields`(parent: String) {
        #expect(parse([parent]) != nil)
    }

    @Test(arguments: [
        "", "00", "-", parent + "-", parent + "-00", String(parent.dropLast()), " " + parent, parent + " ",
        "ff-\(traceID)-\(spanID)-01", "0g-\(traceID)-\(spanID)-01", "01-\(traceID)-\(spanID)-01x",
        "00-\(traceID.uppercased())-\(spanID)-01", "00-\(traceID)-\(spanID.uppercased())-01", "00-\(traceID)-\(spanID)-0A",
        "00-\(String(repeating: "0", count: 32))-\(spanID)-01", "00-\(traceID)-\(String(repeating: "0", count: 16))-01",
        "00_\(traceID)_\(spanID)_01", "00-\(traceID)\(spanID)--01", "00-\(traceID)-\(spanID)-0\u{301}",
        "00-é\(traceID.dropFirst(2))-\(spanID)-01", "00-\(traceID)-\(spanID)-\u{0}1", String(repeating: "0", count: 500),
    ])
    func `Anything else begins a new trace`(parent: String) {
        #expect(parse([parent]) == nil)
    }

    @Test
    func `Two headers begin a new trace, as none does`() {
        #expect(parse([Self.parent, Self.parent]) == nil)
        #expect(parse([]) == nil)
    }

    @Test(arguments: [["a=" + String(repeating: "x", count: 511)], ["a=\u{1}"], ["a=\r\nX: y"], ["a=é"]])
    func `A state that is too long or not ASCII is dropped, and the trace goes on`(states: [String]) throws {
        let context = try #require(parse([Self.parent], states))
        #expect(context.state.isEmpty)
    }

    @Test
    func `Random IDs are valid, lower case and different`() throws {
        let texts = (0..<100).map { _ in
            TraceContext(traceID: TraceID(), spanID: SpanID(), sampling: SamplingDecision(isSampled: true)).traceparent
        }
        #expect(Set(texts).count == 100)
        for text in texts { #expect(parse([text])?.traceparent == text) }
    }
}
