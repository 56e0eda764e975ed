/// The outcomes of recorded spans.
package enum SpanOutcome: String, CaseIterable, Sendable {
    /// A collector has accepted the span.
    case exported
    /// The queue was full.
    case dropped
    /// The collector could not be reached, or refused the request.
    case failed
    /// The collector has accepted others of its request, but not this one.
    case rejected
}
