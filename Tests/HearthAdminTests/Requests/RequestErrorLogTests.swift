import DocumentModel
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import HearthAdmin

@Suite("Logging of rejected requests")
struct RequestErrorLogTests {
    /// Records log messages.
    private final class Log: Sendable {
        private let messages = Mutex<[String]>([])

        var count: Int { messages.withLock { $0.count } }

        func add(_ message: String) { messages.withLock { $0.append(message) } }
    }

    private struct Handler: LogHandler {
        let log: Log
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.warning

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.add("\(event.message)")
        }
    }

    @Test
    func `The message of an internal error is logged, but not shown`() {
        let log = Log()
        let errors = PageErrorLog(logger: Logger(label: "test") { _ in Handler(log: log) })
        let shown = errors.presentable(StatusError(.internal, "open /srv/data: failed", path: "a/b", cause: CancellationError()))
        #expect(!shown.message.contains("/srv/data"))
        #expect(shown.message.contains("error.id"))
        #expect(log.count == 1)
        #expect(errors.presentable(StatusError(.unavailable, "Try again.")).message == "Try again.")
        #expect(log.count == 2)
        #expect(errors.presentable(StatusError(.notFound, "No document.")).message == "No document.")
        #expect(log.count == 2)
    }

    @Test(
        arguments: [
            ("/admin/data/a/none?edit", "as=json&json=%7B%7D&base=&do=save"), ("/admin/data/a/none?delete", "base=&at=1"),
            ("/admin/data/a?delete", "row=1:1&selected=1"), ("/admin/data/a?new&from=none", ""),
            ("/admin/data/a//b?edit", "base="),
            ("/admin/import", "upload=none"), ("/admin/data/a?delete=found&where=x", "at=1&confirmed=1"),
        ]
    )
    func `An invalid form isn't logged as a server error`(address: String, form: String) async throws {
        let log = Log()
        try await TestSite.with(logger: Logger(label: "test") { _ in Handler(log: log) }) { site in
            _ = await site.post(address, form)
            let response = await site.get(address)
            #expect(response.status.code < 500)
        }
        #expect(log.count == 0)
    }
}
