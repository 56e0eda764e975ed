import HearthAPI
import JSONRPC
import Logging
import StrictJSON
import Testing
import UTF8Text

@Suite("Recent log")
struct RecentLogTests {
    @Test
    func `The last entries of level info and above are kept with metadata, oldest first`() {
        let log = RecentLog()
        var logger = Logger(label: "test") { _ in log.handler }
        logger[metadataKey: "b"] = "1"
        for number in 0..<(RecentLog.capacity + 2) {
            logger.debug("unseen")
            logger.notice("line \(number)", metadata: ["a": "\(number)"])
        }
        #expect(log.entries.count == RecentLog.capacity)
        #expect(log.entries.first?.message == "line 2")
        #expect(log.entries.last?.message == "line \(RecentLog.capacity + 1)")
        #expect(log.entries.last?.level == .notice)
        #expect(log.entries.last?.details.map(\.name) == ["a", "b"])
        #expect(log.entries.last?.details.map(\.value) == ["\(RecentLog.capacity + 1)", "1"])
    }

    @Test
    func `Long messages and values are truncated at Unicode scalars`() {
        let log = RecentLog()
        let logger = Logger(label: "test") { _ in log.handler }
        logger.error("\(String(repeating: "é", count: 100_000))", metadata: ["x": "\(String(repeating: "x", count: 100_000))"])
        #expect(log.entries.first?.message == String(repeating: "é", count: 1_000) + "…")
        #expect(log.entries.first?.details.first?.value.utf8.count == 1_003)
    }

    @Test
    func `server.log returns entries unescaped`() async throws {
        try await withService { service in
            let logger = Logger(label: "test") { [log = service.context.server.log] _ in log.handler }
            logger.warning("Something is <odd>", metadata: ["file.path": "documents/a.json"])
            let result = try JSONText(try await service.result(of: "server.log", "{}")).root
            let entry = try #require(result["lines"]?.elements?.compactMap { $0 }.first)
            #expect(entry["level"]?.string == "warning")
            #expect(entry["message"]?.string == "Something is <odd>")
            #expect(entry["details"]?["file.path"]?.string == "documents/a.json")
        }
    }
}
