package import SpanRecording
import Tracing

/// A tracer's receiver of spans, to be taken one at a time.
package final class SpanLog: Sendable {
    private let spans = AsyncStream<SpanRecord>.makeStream()

    package init() {}

    /// Returns a tracer whose spans are received here.
    package func tracer(sampleRatio: Double) -> RecordingTracer {
        RecordingTracer(sampleRatio: sampleRatio) { [spans] in spans.continuation.yield($0) }
    }

    /// Waits for the next span to end.
    package func next() async throws -> SpanRecord {
        for await span in spans.stream { return span }
        throw CancellationError()
    }

    /// Waits until a request has ended, and returns its spans, that of the request last.
    package func nextRequest() async throws -> [SpanRecord] {
        var found: [SpanRecord] = []
        repeat { found.append(try await next()) } while found.last?.kind != .server
        return found
    }
}
