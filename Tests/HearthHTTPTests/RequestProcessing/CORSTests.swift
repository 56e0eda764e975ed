import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing

@Suite("CORS", .timeLimit(.minutes(10)))
struct CORSTests {
    private static let origin = "https://app.example.org"
    private static let configuration = HTTPServerConfiguration.standard.with(
        \.allowedOrigins,
        [origin, "http://localhost:3000"]
    )

    @Test(arguments: ["OPTIONS", "GET"])
    func `Without allowed origins, no CORS headers are sent`(method: String) async throws {
        try await withServer { server in
            let response = try await withConnection(to: server) {
                try await $0.send(method, "/rpc", ["Origin: \(Self.origin)", "Access-Control-Request-Method: POST"])
            }
            #expect(response.status == 403)
            #expect(response.fields.allSatisfy { !$0.name.hasPrefix("access-control") && $0.name != "vary" })
        }
    }

    @Test(arguments: ["/rpc", "/watch", "/openrpc.json"])
    func `Preflight requests need no key`(path: String) async throws {
        try await withServer(Self.configuration) { server in
            _ = try await server.makeKey(.admin)
            let fields = [
                "Origin: \(Self.origin)", "Access-Control-Request-Method: POST",
                "Access-Control-Request-Headers: authorization,content-type", "Sec-Fetch-Site: cross-site",
            ]
            let response = try await withConnection(to: server) { try await $0.send("OPTIONS", path, fields) }
            #expect(response.status == 204)
            #expect(response["access-control-allow-origin"] == Self.origin)
            #expect(response["access-control-allow-methods"]?.contains("POST") == true)
            #expect(response["access-control-allow-headers"]?.contains("Authorization") == true)
            #expect(response["access-control-max-age"] == "600")
            #expect(response["access-control-allow-credentials"] == nil)
            #expect(response["vary"] == "Origin")
        }
    }

    @Test
    func `Responses to an allowed origin are readable, including errors`() async throws {
        try await withServer(Self.configuration) { server in
            let key = try await server.makeKey(.reader)
            let body = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
            let fields = ["Origin: \(Self.origin)", "Content-Type: application/json", "Sec-Fetch-Site: cross-site"]
            for (more, status) in [(["Authorization: Bearer \(key)"], 200), ([], 401), (["Authorization: Bearer x"], 401)] {
                let response = try await withConnection(to: server) {
                    try await $0.send("POST", "/rpc", fields + more, body: body)
                }
                #expect(response.status == status)
                #expect(response["access-control-allow-origin"] == Self.origin)
                #expect(response["vary"] == "Origin")
            }
            let watch = try await withConnection(to: server) { connection in
                let target = "/watch?collection=a&timeout=1"
                try await connection.send(RawConnection.request("GET", target, fields + ["Authorization: Bearer \(key)"]))
                return try await connection.responseHead()
            }
            #expect(watch.status == 200)
            #expect(watch["access-control-allow-origin"] == Self.origin)
            #expect(watch["vary"] == "Accept, Origin")
        }
    }

    @Test(
        arguments: [
            "null", "https://app.example.org:8443", "http://app.example.org", "https://app.example.org.evil.example",
            "https://evil.example", "https://APP.example.orgx", "*", "https://app.example.org/",
        ]
    )
    func `Other origins are rejected and not echoed`(origin: String) async throws {
        try await withServer(Self.configuration) { server in
            for (method, path) in [("OPTIONS", "/rpc"), ("POST", "/rpc"), ("GET", "/watch?collection=a")] {
                let fields = ["Origin: \(origin)", "Access-Control-Request-Method: POST", "Content-Type: application/json"]
                let response = try await withConnection(to: server) {
                    try await $0.send(method, path, fields, body: method == "POST" ? "{}" : nil)
                }
                #expect(response.status == 403)
                #expect(response["access-control-allow-origin"] == nil)
            }
        }
    }

    @Test(arguments: ["/", "/admin/", "/admin/data/books"])
    func `Admin pages reject all cross-origin requests`(path: String) async throws {
        try await withServer(Self.configuration) { server in
            let fields = ["Origin: \(Self.origin)", "Access-Control-Request-Method: GET"]
            for method in ["GET", "OPTIONS"] {
                let response = try await withConnection(to: server) { try await $0.send(method, path, fields) }
                #expect(response.status == 403)
                #expect(response["access-control-allow-origin"] == nil)
            }
        }
    }

    @Test
    func `Several Origin headers are rejected`() async throws {
        try await withServer(Self.configuration) { server in
            let fields = ["Origin: \(Self.origin)", "Origin: https://evil.example", "Content-Type: application/json"]
            let response = try await withConnection(to: server) { try await $0.send("POST", "/rpc", fields, body: "{}") }
            #expect(response.status == 403)
            #expect(response["access-control-allow-origin"] == nil)
        }
    }
}
