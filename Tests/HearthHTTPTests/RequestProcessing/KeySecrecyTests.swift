import HearthAPI
import Logging
import ServerTestSupport
import StrictJSON
import Synchronization
import Testing

/// A key appears only in the response that creates it.
@Suite("Key secrecy", .timeLimit(.minutes(10)))
struct KeySecrecyTests {
    @Test
    func `Keys are never logged, at any log level`() async throws {
        let log = TextLog()
        var logger = Logger(label: "test") { _ in log.handler }
        logger.logLevel = .trace
        try await withServer(logger: logger) { server in
            let keys = [
                try await server.makeKey(.admin), try await server.makeKey(.reader),
                try await APIKeyRegistry().create(.init(role: .admin)).text,
            ]
            for key in keys {
                for target in ["/rpc", "/watch?collection=a&timeout=1", "/openrpc.json", "/admin/", "/health"] {
                    for method in ["GET", "POST"] {
                        for fields in [["Authorization: Bearer \(key)"], ["Authorization: \(key)"], ["X-Other: \(key)"]] {
                            let response = try await withConnection(to: server) { connection in
                                let fields = fields + ["Content-Type: application/json"]
                                try await connection.send(
                                    RawConnection.request(method, target, fields, body: method == "GET" ? nil : "{}")
                                )
                                return try await connection.responseHead()
                            }
                            #expect(response.fields.allSatisfy { !$0.value.contains(key.suffix(64)) })
                        }
                    }
                }
            }
            let admin = "Authorization: Bearer \(keys[0])"
            for call in [
                #"{"jsonrpc":"2.0","id":1,"method":"keys.create","params":{"role":"reader"}}"#,
                #"{"jsonrpc":"2.0","id":1,"method":"keys.revoke","params":{"id":"\#(keys[1])"}}"#,
            ] {
                let body = try await withConnection(to: server) {
                    try await $0.send("POST", "/rpc", ["Content-Type: application/json", admin], body: call).body
                }
                #expect(!body.contains(keys[1].suffix(64)))
            }
            let text = log.text
            #expect(text.contains("Rejected an unknown API key"))
            #expect(text.contains("url.path"))
            for key in keys { #expect(!text.contains(key.suffix(64))) }
            // Nor a key created by a call: its secret is 64 hexadecimal digits.
            #expect(text.firstMatch(of: /[0-9a-f]{64}/) == nil)
        }
    }
}

/// A log handler that records everything as text.
private final class TextLog: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var handler: Handler { Handler(log: self) }

    struct Handler: LogHandler {
        let log: TextLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.lines.withLock { $0.append("\(event.message) \(metadata) \(event.metadata ?? [:])") }
        }
    }
}
