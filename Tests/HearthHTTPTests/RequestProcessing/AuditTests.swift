import DocumentModel
import Foundation
import HearthAPI
import HearthHTTP
import Logging
import ServerTestSupport
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Audited operations", .timeLimit(.minutes(10)))
struct AuditTests {
    @Test
    func `Administrative calls are recorded with caller, address, request ID and outcome, and without contents`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("audit.ndjson").path
            let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            let audit = try AuditLog(path: path, logger: logger)
            try await withServer(allowsClearing: true, audit: audit) { server in
                let key = try await server.makeKey(.admin)
                let fields = ["Content-Type: application/json", "Authorization: Bearer \(key)"]
                var ids: [String?] = []
                for (method, params) in [
                    ("keys.create", #"{"role":"reader","label":"private"}"#), ("keys.revoke", #"{"id":"missing"}"#),
                    ("keys.revoke", #"{"id":"\#(key)"}"#), ("indexes.exempt", #"{"collection":"a","field":"x"}"#),
                    ("databases.delete", #"{"name":"missing"}"#), ("documents.set", #"{"path":"a/b","fields":{}}"#),
                ] {
                    let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
                    let response = try await withConnection(to: server) {
                        try await $0.send("POST", "/rpc", fields, body: body)
                    }
                    ids.append(response["x-request-id"])
                }
                let clear = "/emulator/v1/projects/p/databases/(default)/documents"
                _ = try await withConnection(to: server) { try await $0.send("DELETE", clear, fields) }
                let text = try String(contentsOfFile: path, encoding: .utf8)
                #expect(!text.contains(key.suffix(64)) && !text.contains("private"))
                let lines = try text.split(separator: "\n").map { try JSONText(String($0)).root }
                #expect(
                    lines.map { $0["action"]?.string } == [
                        "keys.create", "keys.revoke", "keys.revoke", "indexes.change", "databases.delete", "database.clear",
                    ]
                )
                let outcomes = ["OK", "NOT_FOUND", "NOT_FOUND", "OK", "NOT_FOUND", "OK"]
                #expect(lines.map { $0["outcome"]?.string } == outcomes)
                #expect(lines.prefix(5).map { $0["requestId"]?.string } == Array(ids.prefix(5)))
                #expect(lines.allSatisfy { $0["key"]?.string == server.context.keys.all[0].id.string })
                #expect(lines.allSatisfy { $0["address"]?.string == "127.0.0.1" })
                #expect(lines[1]["target"]?.string == "missing" && lines[2]["target"] == nil)
            }
            #expect(try AuditVerification(path: path).lastNumber == 6)
        }
    }

    @Test
    func `Sign-ins to the pages, failed ones too, exports and sign-outs are recorded`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.appendingPathComponent("audit.ndjson").path
            let audit = try AuditLog(path: path, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            try await withServer(hasPages: true, audit: audit) { server in
                let key = try await server.makeKey(.admin)
                try await server.set("books/x", ["text": .string("contents")])
                var browser = TestBrowser(server)
                #expect(try await browser.signIn(key.replacing("fsk", with: "fsx")).status == 403)
                #expect(try await browser.signIn(key).status == 303)
                #expect(try await browser.get("/admin/data/books?export=csv").status == 200)
                let token = try await browser.get("/admin/").formToken
                _ = try await browser.post("/admin/sign-out", "form-token=\(token)")
                let text = try String(contentsOfFile: path, encoding: .utf8)
                #expect(!text.contains(key.suffix(64)) && !text.contains("contents"))
                let lines = try text.split(separator: "\n").map { try JSONText(String($0)).root }
                let actions = ["session.start", "session.start", "documents.export", "session.end"]
                #expect(lines.map { $0["action"]?.string } == actions)
                #expect(lines.map { $0["outcome"]?.string } == ["UNAUTHENTICATED", "OK", "OK", "OK"])
                let id = server.context.keys.all[0].id.string
                #expect(lines.map { $0["key"]?.string } == [nil, id, id, id])
                #expect(lines[2]["target"]?.string == "books")
                #expect(lines.allSatisfy { $0["requestId"]?.string?.isEmpty == false })
            }
        }
    }
}
