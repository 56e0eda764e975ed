package import SpanRecording
internal import Synchronization

/// The spans that wait to be exported. When it is full, the oldest ones are dropped.
package final class SpanQueue: Sendable {
    private struct State {
        var spans: ArraySlice<SpanRecord> = []
        /// True once the exporter has been told that a batch is complete, until it has taken it.
        var isSignalled = false
    }

    /// The number of spans of a request to the collector.
    package static let batchSize = 512
    /// The number of spans that wait.
    package static let capacity = 2_048

    private let state = Mutex(State())
    /// An element for each time that a batch became complete.
    let completions: AsyncStream<Void>
    private let completion: AsyncStream<Void>.Continuation
    private let record: @Sendable (SpanOutcome, Int) -> Void

    /// Creates a queue.
    ///
    /// - Parameter record: Counts spans by outcome, on any thread.
    package init(record: @escaping @Sendable (SpanOutcome, Int) -> Void) {
        self.record = record
        (completions, completion) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds a span, on any thread. Costs a lock.
    package func append(_ span: SpanRecord) {
        let (isFull, isComplete) = state.withLock { state in
            let isFull = state.spans.count >= Self.capacity
            if isFull { state.spans.removeFirst() }
            state.spans.append(span)
            guard state.spans.count >= Self.batchSize, !state.isSignalled else { return (isFull, false) }
            state.isSignalled = true
            return (isFull, true)
        }
        if isFull { record(.dropped, 1) }
        if isComplete { completion.yield() }
    }

    /// The number of spans.
    var count: Int { state.withLock { $0.spans.count } }

    /// Makes the exporter take what there is.
    func signal() {
        completion.yield()
    }

    /// Removes the next batch; it is empty if there are no spans.
    func removeBatch() -> [SpanRecord] {
        state.withLock { state in
            let batch = Array(state.spans.prefix(Self.batchSize))
            state.spans = state.spans.dropFirst(batch.count)
            // A slice retains the elements that were removed from it.
            if state.spans.isEmpty { state.spans = [] }
            state.isSignalled = false
            return batch
        }
    }

    /// Puts a batch back that could not be sent yet, as far as there is space.
    func putBack(_ batch: [SpanRecord]) {
        let dropped = state.withLock { state in
            let count = max(0, batch.count - (Self.capacity - state.spans.count))
            state.spans = batch[count...] + state.spans
            return count
        }
        if dropped > 0 { record(.dropped, dropped) }
    }
}
