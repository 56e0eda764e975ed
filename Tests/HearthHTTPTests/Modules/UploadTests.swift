import Concurrency
import HearthAPI
import ServerTestSupport
import Testing

@testable import HearthHTTP

@Suite("File uploads", .timeLimit(.minutes(10)))
struct UploadTests {
    private static func lines(byteCount: Int) -> String {
        let line = "{\"path\":\"a/1\",\"fields\":{}}" + String(repeating: " ", count: 60_000) + "\n"
        return String(repeating: line, count: byteCount / line.utf8.count)
    }

    @Test
    func `An uploaded file is written to disk while it arrives, regardless of the body limits`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.maximumBufferedBodyBytes, 1 << 20)
        try await withServer(configuration, limits: ServiceLimits(maximumBodyBytes: 1 << 20), hasPages: true) { server in
            var browser = TestBrowser(server)
            let response = try await browser.upload(Self.lines(byteCount: 8 << 20))
            #expect(response.status == 303)
            #expect(server.bodyBudget.reservedBytes == 0)
            var address = try #require(response["location"])
            // The progress page of the validation job.
            while address.hasPrefix("/admin/jobs/") {
                let page = try await browser.get(address)
                // In attributes, the equals sign is escaped.
                guard let id = page.body.firstMatch(of: /\/admin\/import\?upload&#61;([0-9a-f]+)/) else { continue }
                address = "/admin/import?upload=\(id.1)"
            }
            let page = try await browser.get(address)
            #expect(page.body.contains("139 documents can be imported."))
        }
    }

    @Test
    func `A form with too many fields is rejected before it ends`() async throws {
        try await withServer(hasPages: true) { server in
            try await withConnection(to: server) { connection in
                let fields = [
                    "POST /admin/import HTTP/1.1", "Host: localhost", "Origin: http://localhost", "Sec-Fetch-Site: same-origin",
                    "Content-Type: multipart/form-data; boundary=XX", "Transfer-Encoding: chunked",
                ]
                try await connection.send(fields.joined(separator: "\r\n") + "\r\n\r\n")
                let field = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
                for _ in 0..<110 { try await connection.send("\(String(field.utf8.count, radix: 16))\r\n\(field)\r\n") }
                #expect(try await connection.response().status == 400)
            }
        }
    }

    @Test(
        arguments: ["Multipart/Form-Data", "multipart/form-data "]
    )
    func `The media type of a form is case-insensitive`(type: String) async throws {
        // Only a multipart form may exceed this limit.
        let configuration = HTTPServerConfiguration.standard.with(\.maximumBufferedBodyBytes, 1 << 20)
        try await withServer(configuration, limits: ServiceLimits(maximumBodyBytes: 1 << 20), hasPages: true) { server in
            var browser = TestBrowser(server)
            let response = try await browser.upload(Self.lines(byteCount: 2 << 20), type: type)
            #expect(response.status == 303)
        }
    }

    @Test
    func `An upload without write access is rejected`() async throws {
        try await withServer(hasPages: true) { server in
            _ = try await server.makeKey(.admin)
            let reader = try await server.makeKey(.reader)
            var browser = TestBrowser(server)
            #expect(try await browser.upload(Self.lines(byteCount: 1 << 20)).status == 401)
            _ = try await browser.signIn(reader)
            #expect(try await browser.upload(Self.lines(byteCount: 1 << 20)).status == 403)
        }
    }
}
