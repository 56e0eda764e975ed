import SpanRecording
import Synchronization
import Testing
import Tracing

@testable import OTLPExport

@Suite("Queue of spans")
struct SpanQueueTests {
    @Test
    func `A full queue drops the oldest spans, and counts them`() {
        let dropped = Mutex(0)
        let queue = SpanQueue { outcome, count in if outcome == .dropped { dropped.withLock { $0 += count } } }
        let tracer = RecordingTracer(sampleRatio: 1) { queue.append($0) }
        for index in 0..<2_100 { tracer.startSpan("\(index)").end() }
        #expect(dropped.withLock { $0 } == 52)
        let first = queue.removeBatch()
        #expect(first.count == 512 && first[0].name == "52")
        // Those that were put back are older than those that have come since.
        queue.putBack(first)
        for index in 2_100..<2_110 { tracer.startSpan("\(index)").end() }
        #expect(dropped.withLock { $0 } == 62)
        var names: [String] = []
        while case let batch = queue.removeBatch(), !batch.isEmpty { names += batch.map(\.name) }
        #expect(names == (62..<2_110).map { "\($0)" })
    }

    @Test
    func `Spans that no longer fit are dropped when a batch is put back`() {
        let dropped = Mutex(0)
        let queue = SpanQueue { outcome, count in if outcome == .dropped { dropped.withLock { $0 += count } } }
        let tracer = RecordingTracer(sampleRatio: 1) { queue.append($0) }
        for index in 0..<512 { tracer.startSpan("\(index)").end() }
        let batch = queue.removeBatch()
        for index in 512..<2_512 { tracer.startSpan("\(index)").end() }
        queue.putBack(batch)
        #expect(dropped.withLock { $0 } == 464)
        #expect(queue.removeBatch().first?.name == "464")
    }
}
