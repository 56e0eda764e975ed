import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing

@Suite("CORS of WebChannel", .timeLimit(.minutes(10)))
struct WebChannelCORSTests {
    private static let origin = "https://app.example.org"
    private static let configuration = HTTPServerConfiguration.standard.with(\.allowedOrigins, [origin])
    private static let path = "/google.firestore.v1.Firestore/Write/channel"

    @Test
    func `Pages of allowed origins may read every response`() async throws {
        try await withServer(Self.configuration) { server in
            let client = WebChannelClient(server: server, path: Self.path)
            let fields = ["Origin: \(Self.origin)", "Sec-Fetch-Site: cross-site", "Cookie: hearth_session=x"]
            for (method, query, body, status) in [
                ("POST", "VER=8&RID=1", "count=0", 200), ("POST", "VER=8&RID=1&SID=x", "count=0", 400),
                ("GET", "VER=8&RID=rpc&SID=x", nil, 400), ("POST", "VER=8&RID=1", "req0___data__=%", 400),
                ("PUT", "VER=8", nil, 405), ("POST", "SID=x&TYPE=terminate", "", 200),
            ] as [(String, String, String?, Int)] {
                let response = try await client.request(method, query, fields, body: body)
                #expect(response.status == status)
                #expect(response["access-control-allow-origin"] == Self.origin)
                #expect(response["access-control-allow-credentials"] == "true")
                #expect(response["access-control-expose-headers"]?.contains("X-HTTP-Session-Id") == true)
                #expect(response["vary"] == "Origin")
            }
        }
    }

    @Test
    func `Pages of other origins are rejected`() async throws {
        try await withServer(Self.configuration) { server in
            let client = WebChannelClient(server: server, path: Self.path)
            for origin in ["https://evil.example", "null"] {
                let response = try await client.request("POST", "VER=8&RID=1", ["Origin: \(origin)"], body: "count=0")
                #expect(response.status == 403)
                #expect(response["access-control-allow-origin"] == nil)
                #expect(response["access-control-allow-credentials"] == nil)
            }
            let withoutOrigin = try await client.request("POST", "VER=8&RID=1", ["Sec-Fetch-Site: cross-site"], body: "count=0")
            #expect(withoutOrigin.status == 403)
        }
    }

    @Test
    func `A browser that hides the origin of a form is rejected`() async throws {
        try await withServer { server in
            let client = WebChannelClient(server: server, path: Self.path)
            let browser = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:60.0) Gecko/20100101 Firefox/60.0"
            for (fields, status) in [
                ([browser], 403), ([browser, "Sec-Fetch-Site: same-origin"], 200), (["User-Agent: curl/8"], 200),
            ] {
                let response = try await client.request("POST", "VER=8&RID=1", fields, body: "count=0", type: "text/plain")
                #expect(response.status == status)
            }
        }
    }

    @Test
    func `A page that is being closed may end its channel by an image`() async throws {
        try await withServer(Self.configuration) { server in
            let client = try await WebChannelClient.open("Write", on: server, #"{"database":"projects/p/databases/d"}"#)
            let response = try await client.request("GET", client.query("TYPE=terminate"), ["Sec-Fetch-Site: cross-site"])
            #expect(response.status == 200)
            try await server.wait { server.context.server.activity.watcherCount == 0 }
        }
    }

    @Test(arguments: ["/v1/projects/p/databases/(default)/documents:commit", path])
    func `Preflight requests get what they ask for`(path: String) async throws {
        try await withServer(Self.configuration) { server in
            let headers = "authorization,content-type,google-cloud-resource-prefix,x-firebase-client,x-goog-api-client"
            let response = try await withConnection(to: server) { connection in
                try await connection.send(
                    "OPTIONS",
                    path,
                    [
                        "Origin: \(Self.origin)", "Access-Control-Request-Method: POST",
                        "Access-Control-Request-Headers: \(headers)", "Access-Control-Request-Private-Network: true",
                    ]
                )
            }
            #expect(response.status == 204)
            #expect(response["access-control-allow-origin"] == Self.origin)
            #expect(response["access-control-allow-credentials"] == "true")
            #expect(response["access-control-allow-headers"] == headers)
            #expect(response["access-control-allow-methods"]?.contains("POST") == true)
            #expect(response["access-control-allow-private-network"] == "true")
            #expect(response["access-control-max-age"] == "600")
        }
    }
}
