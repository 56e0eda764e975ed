internal import Synchronization
package import Tracing

/// The W3C trace context of a span: its IDs, and the decision whether its trace is sampled
/// (https://www.w3.org/TR/trace-context/).
package struct TraceContext: Sendable {
    package let traceID: TraceID
    package let spanID: SpanID
    /// The decision for all spans of the trace that this process records.
    package let sampling: SamplingDecision
    /// The value of `tracestate`, which is passed on unread; empty if there is none.
    package let state: String

    package init(traceID: TraceID, spanID: SpanID, sampling: SamplingDecision, state: String = "") {
        self.traceID = traceID
        self.spanID = spanID
        self.sampling = sampling
        self.state = state
    }

    /// True if the trace is sampled.
    package var isSampled: Bool { sampling.isSampled }

    /// Returns the context of a new span below this one.
    func makeChild() -> TraceContext {
        TraceContext(traceID: traceID, spanID: SpanID(), sampling: sampling, state: state)
    }
}

extension TraceContext {
    package static let parentHeader = "traceparent"
    package static let stateHeader = "tracestate"

    /// The length of a value of version 00.
    private static let parentLength = 55
    /// The longest `tracestate` that is passed on; a longer one is dropped, which the specification permits from this length.
    private static let maximumStateLength = 512

    /// Reads the headers of a request.
    ///
    /// - Parameters:
    ///   - parents: The values of `traceparent`: there must be exactly one.
    ///   - states: The values of `tracestate`.
    /// - Returns: `nil` for a missing or invalid `traceparent`: the request then begins a trace.
    package init?(parents: [String], states: [String]) {
        guard parents.count == 1, let context = Self(traceparent: parents[0], state: Self.state(states)) else { return nil }
        self = context
    }

    /// Parses `traceparent`: `00-` 32 digits `-` 16 digits `-` flags, in lower case. Later versions may append fields.
    private init?(traceparent: String, state: String) {
        let bytes = Array(traceparent.utf8.prefix(Self.parentLength + 1))
        let dash = UInt8(ascii: "-")
        guard bytes.count >= Self.parentLength, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
            let version = UInt64(lowercaseHexadecimal: bytes[0..<2]), version != 0xff,
            version > 0 && (bytes.count == Self.parentLength || bytes[55] == dash) || bytes.count == Self.parentLength,
            let high = UInt64(lowercaseHexadecimal: bytes[3..<19]), let low = UInt64(lowercaseHexadecimal: bytes[19..<35]),
            let traceID = TraceID(high: high, low: low),
            let spanID = UInt64(lowercaseHexadecimal: bytes[36..<52]).flatMap(SpanID.init),
            let flags = UInt64(lowercaseHexadecimal: bytes[53..<55])
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, sampling: SamplingDecision(isSampled: flags & 1 == 1), state: state)
    }

    /// Returns the values of `tracestate` as one; empty if they are not passed on.
    private static func state(_ values: [String]) -> String {
        let state = values.joined(separator: ",")
        return state.utf8.count <= maximumStateLength && state.utf8.allSatisfy { (0x20...0x7e).contains($0) } ? state : ""
    }

    /// The value of `traceparent` for requests that a span sends.
    package var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }
}

/// The decision whether a trace is sampled, which the spans of a request share. It can change until the caller is known.
package final class SamplingDecision: Sendable {
    private let value: Atomic<Bool>

    package init(isSampled: Bool) {
        value = Atomic(isSampled)
    }

    package var isSampled: Bool {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}

extension ServiceContext {
    private enum Key: ServiceContextKey {
        typealias Value = TraceContext
        static var nameOverride: String? { TraceContext.parentHeader }
    }

    /// The span that is the parent of those that are started in this context.
    package var trace: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
