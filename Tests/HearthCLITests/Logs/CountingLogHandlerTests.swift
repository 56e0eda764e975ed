import HearthAPI
import Logging
import PrometheusMetrics
import Testing

@testable import HearthCLI

@Suite("Counting log handler")
struct CountingLogHandlerTests {
    @Test
    func `Entries are counted by level, and repeated ones are passed on up to the limit, with their metadata`() throws {
        let metrics = ServerMetrics()
        let recent = RecentLog()
        var logger = Logger(label: "test") { _ in
            CountingLogHandler([recent.handler], limit: RepetitionLimit(), metrics: metrics.log)
        }
        logger[metadataKey: "a"] = "b"
        for _ in 0..<100 { logger.warning("Request failed", metadata: ["c": "d"]) }
        logger.info("Other")
        logger.debug("Below the level")
        let entries = recent.entries
        #expect(entries.count == RepetitionLimit.maximumCount + 1)
        #expect(entries[0].details.map { "\($0.name)=\($0.value)" } == ["a=b", "c=d"])
        let text = String(decoding: metrics.registry.text(), as: UTF8.self)
        #expect(text.contains("\nhearth_log_messages_total{level=\"warning\"} 100\n"))
        #expect(text.contains("\nhearth_log_messages_total{level=\"info\"} 1\n"))
        #expect(text.contains("\nhearth_log_messages_total{level=\"debug\"} 0\n"))
    }
}
