import Foundation
import Logging
import SpanRecording
import Synchronization
import Testing
import TraceTestSupport
import Tracing

@testable import OTLPExport

@Suite("Export of spans", .timeLimit(.minutes(5)))
struct OTLPExporterTests {
    /// The numbers of spans by outcome.
    private final class Outcomes: Sendable {
        private let counts = Mutex<[SpanOutcome: Int]>([:])
        private let changes: AsyncStream<[SpanOutcome: Int]>
        private let change: AsyncStream<[SpanOutcome: Int]>.Continuation

        init() {
            (changes, change) = AsyncStream.makeStream()
        }

        var all: [SpanOutcome: Int] { counts.withLock { $0 } }

        func count(_ outcome: SpanOutcome, _ count: Int) {
            change.yield(
                counts.withLock { counts in
                    counts[outcome, default: 0] += count
                    return counts
                }
            )
        }

        /// Waits until a number of spans has an outcome. To be called once.
        func wait(for outcome: SpanOutcome, _ count: Int) async {
            for await counts in changes where counts[outcome, default: 0] >= count { return }
        }
    }

    /// Runs `body` while spans are exported to a collector.
    private func withExporter(
        to url: String,
        outcomes: Outcomes,
        queue: SpanQueue? = nil,
        configure: (inout OTLPExporter.Configuration) -> Void = { _ in },
        _ body: (RecordingTracer) async throws -> Void
    ) async throws {
        let queue = queue ?? SpanQueue { outcomes.count($0, $1) }
        var configuration = OTLPExporter.Configuration(
            url: url + "/v1/traces",
            resource: [("service.name", "test \"1\"")],
            version: "1.2.3"
        )
        configuration.interval = .milliseconds(10)
        configuration.firstRetryDelay = .milliseconds(20)
        // For machines that are slow.
        configuration.requestTimeout = .seconds(120)
        configuration.retryTimeout = .seconds(240)
        configuration.shutdownTimeout = .seconds(60)
        configure(&configuration)
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let exporter = OTLPExporter(configuration, queue: queue, logger: logger) { outcomes.count($0, $1) }
        let running = Task { await exporter.run() }
        do {
            try await body(RecordingTracer(sampleRatio: 1) { queue.append($0) })
        } catch {
            running.cancel()
            await exporter.shutDown()
            throw error
        }
        running.cancel()
        await running.value
        await exporter.shutDown()
    }

    @Test
    func `A collector receives each span as the protocol says, compressed, with the headers of the configuration`() async throws {
        let collector = try await TraceCollector()
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.headers = [("Authorization", "Bearer t")]
        } _: { tracer in
            tracer.withSpan("outer", ofKind: .server) { outer in
                outer.attributes["text"] = "a\"\u{1}é"
                outer.attributes["whole"] = 9_007_199_254_740_993
                outer.attributes["real"] = 0.5
                outer.attributes["truth"] = true
                outer.attributes["list"] = ["a", "b"]
                outer.attributes["long"] = String(repeating: "é", count: 10_000)
                outer.attributes["url.query"] = "secret=1"
                outer.attributes["url.full"] = "https://a.example/p?secret=1#secret"
                outer.setStatus(SpanStatus(code: .error))
                tracer.withSpan("inner", ofKind: .client) { _ in }
            }
            var requests = collector.requests.makeAsyncIterator()
            let request = try #require(await requests.next())
            #expect(request.path == "/v1/traces")
            #expect(request.headers["content-type"] == "application/json")
            #expect(request.headers["content-encoding"] == "gzip")
            #expect(request.headers["authorization"] == "Bearer t")
            #expect(!String(decoding: request.body, as: UTF8.self).contains("secret"))
            let spans = try TraceSpan.spans(of: request)
            let outer = try #require(spans.first { $0.name == "outer" })
            let inner = try #require(spans.first { $0.name == "inner" })
            #expect(outer.traceID.wholeMatch(of: /[0-9a-f]{32}/) != nil && outer.spanID.wholeMatch(of: /[0-9a-f]{16}/) != nil)
            #expect(outer.parentID == nil && outer.kind == 2 && outer.status == 2)
            #expect(inner.parentID == outer.spanID && inner.traceID == outer.traceID && inner.kind == 3 && inner.status == 0)
            #expect(outer.start <= inner.start && inner.end <= outer.end)
            #expect(outer.resource == ["service.name": "test \"1\""])
            #expect(outer.attributes["text"] == "a\"\u{1}é")
            #expect(outer.attributes["whole"] == "9007199254740993")
            #expect(outer.attributes["real"] == "0.5" && outer.attributes["truth"] == "1")
            #expect(outer.attributes["list"]?.contains("b") == true)
            #expect(outer.attributes["long"]?.count == 1_024)
            #expect(outer.attributes["url.full"] == "https://a.example/p")
            await outcomes.wait(for: .exported, 2)
        }
        #expect(outcomes.all == [.exported: 2])
    }

    @Test(arguments: [429, 502, 503, 504])
    func `A request is sent again after a while if the collector says that it may succeed later`(status: Int) async throws {
        let collector = try await TraceCollector { number in
            number < 2 ? .response(status: status, headers: ["Retry-After": number == 0 ? "1" : "soon"]) : .response(status: 200)
        }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { tracer in
            tracer.startSpan("s").end()
            var requests = collector.requests.makeAsyncIterator()
            let first = try #require(await requests.next())
            let second = try #require(await requests.next())
            let third = try #require(await requests.next())
            #expect(second.time - first.time >= .milliseconds(990))
            #expect(first.body == second.body && second.body == third.body)
            await outcomes.wait(for: .exported, 1)
        }
        #expect(outcomes.all == [.exported: 1])
    }

    @Test(arguments: [400, 401, 404, 413, 500, 501, 301])
    func `A request that the collector refuses is not sent again`(status: Int) async throws {
        let collector = try await TraceCollector { number in .response(status: number == 0 ? status : 200) }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { tracer in
            tracer.startSpan("refused").end()
            await outcomes.wait(for: .failed, 1)
            tracer.startSpan("accepted").end()
            var requests = collector.requests.makeAsyncIterator()
            let first = try TraceSpan.spans(of: try #require(await requests.next())).map(\.name)
            let second = try TraceSpan.spans(of: try #require(await requests.next())).map(\.name)
            #expect(first == ["refused"] && second == ["accepted"])
        }
        #expect(outcomes.all == [.failed: 1, .exported: 1])
    }

    @Test(arguments: [
        #"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"e"}}"#, #"{"partialSuccess":{"rejectedSpans":2}}"#,
    ])
    func `Spans that the collector has not accepted are counted`(body: String) async throws {
        let collector = try await TraceCollector { _ in .response(status: 200, body: body) }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.interval = .seconds(600)
        } _: { tracer in
            for _ in 0..<3 { tracer.startSpan("s").end() }
        }
        #expect(outcomes.all == [.exported: 1, .rejected: 2])
    }

    @Test(arguments: ["", "[]", "{\"partialSuccess\":null}", "{\"partialSuccess\":{\"rejectedSpans\":\"-5\"}}", "\u{1}<html>"])
    func `A response that isn't one of the protocol counts as success`(body: String) async throws {
        let collector = try await TraceCollector { _ in .response(status: 200, body: body) }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { tracer in
            tracer.startSpan("s").end()
            await outcomes.wait(for: .exported, 1)
        }
        #expect(outcomes.all == [.exported: 1])
    }

    /// The ways in which a collector is of no use.
    enum Defect: CaseIterable {
        case dead, silent, closing, stalling
    }

    @Test(arguments: Defect.allCases)
    func `While the collector is out of reach, the newest spans wait, the others are counted, and the end is in time`(
        defect: Defect
    ) async throws {
        let collector = try await TraceCollector { _ in
            switch defect {
            case .silent: .none
            case .stalling: .head
            case .dead, .closing: .close
            }
        }
        if defect == .dead { try await collector.stop() }
        let outcomes = Outcomes()
        // Each of the long limits would hold up the end beyond the time of the suite.
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.requestTimeout = .seconds(3_600)
            configuration.retryTimeout = .seconds(3_600)
            configuration.shutdownTimeout = .milliseconds(500)
        } _: { tracer in
            for _ in 0..<5_000 { tracer.startSpan("s").end() }
            await outcomes.wait(for: .dropped, 1)
        }
        let all = outcomes.all
        #expect(all[.exported] == nil)
        #expect(all[.dropped, default: 0] + all[.failed, default: 0] == 5_000)
        #expect(all[.dropped, default: 0] >= 5_000 - SpanQueue.capacity - SpanQueue.batchSize)
    }

    @Test
    func `The next request does not come before the time that the collector has named, either`() async throws {
        let collector = try await TraceCollector { number in
            number == 0 ? .response(status: 429, headers: ["Retry-After": "2"]) : .response(status: 200)
        }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.retryTimeout = .seconds(1)
        } _: { tracer in
            tracer.startSpan("given up").end()
            var requests = collector.requests.makeAsyncIterator()
            let first = try #require(await requests.next())
            tracer.startSpan("next").end()
            let second = try #require(await requests.next())
            #expect(second.time - first.time >= .milliseconds(1_990))
            #expect(try TraceSpan.spans(of: second).map(\.name) == ["next"])
            await outcomes.wait(for: .exported, 1)
        }
        #expect(outcomes.all == [.failed: 1, .exported: 1])
    }

    @Test
    func `A collector that names no delay is not asked at once`() async throws {
        let collector = try await TraceCollector { number in
            .response(status: number < 3 ? 503 : 200, headers: ["Retry-After": number == 0 ? "0" : "-1"])
        }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.firstRetryDelay = .milliseconds(100)
        } _: { tracer in
            tracer.startSpan("s").end()
            var times: [ContinuousClock.Instant] = []
            for await request in collector.requests {
                times.append(request.time)
                if times.count == 4 { break }
            }
            // 100, 200 and 400 ms, each a fifth less at most.
            #expect(times[3] - times[0] >= .milliseconds(550))
            await outcomes.wait(for: .exported, 1)
        }
    }

    @Test
    func `A request is given up after the time for which it is repeated`() async throws {
        let collector = try await TraceCollector { _ in .response(status: 503) }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.retryTimeout = .milliseconds(500)
        } _: { tracer in
            tracer.startSpan("s").end()
            await outcomes.wait(for: .failed, 1)
        }
        #expect(outcomes.all == [.failed: 1])
    }

    @Test
    func `What is left at the end is sent, also what waits to be sent again`() async throws {
        let collector = try await TraceCollector { number in .response(status: number == 0 ? 503 : 200) }
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.firstRetryDelay = .seconds(50)
        } _: { tracer in
            for _ in 0..<600 { tracer.startSpan("s").end() }
            var requests = collector.requests.makeAsyncIterator()
            _ = await requests.next()
        }
        #expect(outcomes.all == [.exported: 600])
    }

    @Test
    func `A batch is sent as soon as it is complete`() async throws {
        let collector = try await TraceCollector()
        let outcomes = Outcomes()
        try await withExporter(to: collector.url, outcomes: outcomes) { configuration in
            configuration.interval = .seconds(600)
        } _: { tracer in
            for _ in 0..<512 { tracer.startSpan("s").end() }
            var requests = collector.requests.makeAsyncIterator()
            let spans = try TraceSpan.spans(of: try #require(await requests.next()))
            #expect(spans.count == 512)
            await outcomes.wait(for: .exported, 512)
        }
    }
}
