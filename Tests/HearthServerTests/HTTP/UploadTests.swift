import HearthService
import Testing

@testable import HearthServer

@Suite("Files that are sent to the pages", .timeLimit(.minutes(10)))
struct UploadTests {
    private static func lines(byteCount: Int) -> String {
        let line = "{\"path\":\"a/1\",\"fields\":{}}" + String(repeating: " ", count: 60_000) + "\n"
        return String(repeating: line, count: byteCount / line.utf8.count)
    }

    @Test("A file goes to disk as it comes, however little memory there is for bodies and however small they must be")
    func large() async throws {
        let configuration = HearthServerConfiguration.standard.with(\.maximumHeldBodyBytes, 1 << 20)
        try await withServer(configuration, limits: ServiceLimits(maximumBodyBytes: 1 << 20), hasPages: true) { server in
            var browser = TestBrowser(server)
            let response = try await browser.upload(Self.lines(byteCount: 8 << 20))
            #expect(response.status == 303)
            #expect(server.bodies.held == 0)
            var address = try #require(response["location"])
            // The page of the check, which may take its time.
            while address.hasPrefix("/admin/work/") {
                let page = try await browser.get(address)
                // An attribute has the sign of equality escaped.
                guard let id = page.body.firstMatch(of: /\/admin\/import\?upload&#61;([0-9a-f]+)/) else { continue }
                address = "/admin/import?upload=\(id.1)"
            }
            let page = try await browser.get(address)
            #expect(page.body.contains("139 documents can be imported."))
        }
    }

    @Test("A form that has no end is refused before it takes memory")
    func endless() async throws {
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
        "A form is one with a file in whatever letters its type is written",
        arguments: ["Multipart/Form-Data", "multipart/form-data "]
    )
    func mediaTypes(type: String) async throws {
        // Nowhere else could so much be held.
        let configuration = HearthServerConfiguration.standard.with(\.maximumHeldBodyBytes, 1 << 20)
        try await withServer(configuration, limits: ServiceLimits(maximumBodyBytes: 1 << 20), hasPages: true) { server in
            var browser = TestBrowser(server)
            let response = try await browser.upload(Self.lines(byteCount: 2 << 20), type: type)
            #expect(response.status == 303)
        }
    }

    @Test("From who may not write a file is not even taken")
    func rights() async throws {
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
