import HearthAPI
import HearthHTTP
import ServerTestSupport
import Synchronization
import Testing

/// The client of forwarded requests. The tests act as the proxy, with the address 127.0.0.1.
@Suite("Trusted proxies", .timeLimit(.minutes(10)))
struct TrustedProxyTests {
    /// The result of ``addresses(_:of:)`` for a loopback address.
    private static let thisMachine = "this machine"

    /// Returns the client addresses that the server determines, from the errors of a server that allows no streams for addresses
    /// of other machines.
    private func addresses(_ proxies: [String], of requests: [[String]]) async throws -> [String] {
        let configuration = HTTPServerConfiguration.standard
            .with(\.trustedProxies, proxies.compactMap { CIDRBlock($0) })
            .with(\.maximumWatchersPerAddress, 0)
        let addresses = Mutex<[String]>([])
        try await withServer(configuration) { server in
            for fields in requests {
                let address = try await withConnection(to: server) { connection in
                    try await connection.send(RawConnection.request("GET", "/watch?document=a/b", fields))
                    let head = try await connection.responseHead()
                    if head.status == 200 { return Self.thisMachine }
                    #expect(head.status == 429)
                    let body = try await connection.receive(head["content-length"].flatMap { Int($0) } ?? 0)
                    let words = String(decoding: body, as: UTF8.self).split(separator: " ")
                    return words.firstIndex(of: "address").map { String(words[$0 + 1]) } ?? ""
                }
                addresses.withLock { $0.append(address) }
            }
        }
        return addresses.withLock(\.self)
    }

    @Test
    func `The client is the last address that is not a trusted proxy`() async throws {
        let cases: [(String, String)] = [
            ("203.0.113.7", "203.0.113.7"), ("  203.0.113.7\t", "203.0.113.7"), ("203.0.113.7:4711", "203.0.113.7"),
            ("1.1.1.1, 203.0.113.7", "203.0.113.7"), ("127.0.0.1, 203.0.113.7", "203.0.113.7"),
            ("junk,,<script>, 203.0.113.7", "203.0.113.7"), ("203.0.113.7,", "203.0.113.7"),
            (String(repeating: "1.1.1.1,", count: 3_000) + "203.0.113.7", "203.0.113.7"),
            // Through several trusted proxies.
            ("1.1.1.1, 203.0.113.7, 127.0.0.1", "203.0.113.7"), ("1.1.1.1, 203.0.113.7, 10.1.2.3, 10.3.2.1", "203.0.113.7"),
            ("10.0.0.1, 127.0.0.1", "10.0.0.1"),
            ("2001:db8::7", "2001:db8::/64"), ("[2001:db8::7]", "2001:db8::/64"), ("[2001:db8::7]:443", "2001:db8::/64"),
            ("::ffff:203.0.113.7", "203.0.113.7"), ("[::ffff:203.0.113.7]:1", "203.0.113.7"), ("::1", Self.thisMachine),
        ]
        let found = try await addresses(["127.0.0.1", "10.0.0.0/8"], of: cases.map { ["X-Forwarded-For: \($0.0)"] })
        for ((value, address), found) in zip(cases, found) { #expect(found == address, "\(value.prefix(60))") }
    }

    @Test
    func `Several header fields are combined`() async throws {
        let found = try await addresses(
            ["127.0.0.1"],
            of: [
                ["X-Forwarded-For: 1.1.1.1", "x-forwarded-for: 203.0.113.7"],
                ["X-Forwarded-For: 203.0.113.7", "X-Other: 2.2.2.2", "X-FORWARDED-FOR: 127.0.0.1"],
            ]
        )
        #expect(found == ["203.0.113.7", "203.0.113.7"])
    }

    @Test
    func `Without a valid address, the proxy itself is the client`() async throws {
        let values = [
            "", "unknown", "_hidden", "203.0.113", "203.0.113.7.7", "203.0.113.256", "203.0.113.07", "0x7f.1", "3405803783",
            "203.0.113.7 1.1.1.1", "203.0.113.7, unknown", "203.0.113.7:port", "[203.0.113.7", "[2001:db8::7]x", "2001:db8::7::1",
            "fe80::1%eth0", "203.0.113.7/32", "localhost", "٢٠٣.٠.١١٣.٧", #""203.0.113.7""#, "203.0.113.7;1.1.1.1",
        ]
        let found = try await addresses(["127.0.0.1"], of: [[]] + values.map { ["X-Forwarded-For: \($0)"] })
        for (value, found) in zip(["nothing"] + values, found) { #expect(found == Self.thisMachine, "\(value)") }
    }

    @Test(
        arguments: [[], ["10.0.0.0/8", "127.0.0.2", "::1"]]
    )
    func `Headers of other peers and other forwarding headers are ignored`(proxies: [String]) async throws {
        let found = try await addresses(
            proxies,
            of: [
                ["X-Forwarded-For: 203.0.113.7"], ["Forwarded: for=203.0.113.7"], ["X-Real-IP: 203.0.113.7"],
                ["X-Forwarded-For: 203.0.113.7, 127.0.0.1"],
            ]
        )
        #expect(found == Array(repeating: Self.thisMachine, count: 4))
        let others = try await addresses(["127.0.0.1"], of: [["Forwarded: for=203.0.113.7"], ["X-Real-IP: 203.0.113.7"]])
        #expect(others == [Self.thisMachine, Self.thisMachine])
    }

    @Test(arguments: [true, false])
    func `Rate limits apply to the forwarded client, which cannot be spoofed`(isTrusted: Bool) async throws {
        let proxies = isTrusted ? ["127.0.0.0/8"] : []
        let configuration = HTTPServerConfiguration.standard
            .with(\.trustedProxies, proxies.compactMap { CIDRBlock($0) })
            .with(\.maximumFailedAttempts, 3)
        try await withServer(configuration) { server in
            _ = try await server.makeKey(.admin)
            func status(_ forwarded: String) async throws -> Int {
                let fields = ["Authorization: Bearer wrong", "X-Forwarded-For: \(forwarded)"]
                return try await withConnection(to: server) { try await $0.send("GET", "/openrpc.json", fields) }.status
            }
            // Attempts are replenished over time, so more may be needed. If spoofed addresses were trusted, this would not end.
            var number = 0
            repeat { number += 1 } while try await status("10.0.0.\(number % 256)\(isTrusted ? ", 203.0.113.7" : "")") == 401
            #expect(number > 3)
            if isTrusted { #expect(try await status("203.0.113.7, 203.0.113.8") == 401) }
        }
    }

    @Test
    func `X-Forwarded-Host is ignored`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(
            \.trustedProxies,
            [CIDRBlock("127.0.0.1")].compactMap(\.self)
        )
        try await withServer(configuration) { server in
            let requests = [
                (["Host: evil.example", "X-Forwarded-Host: localhost"], 421),
                (["X-Forwarded-Host: evil.example", "X-Forwarded-Proto: javascript"], 200),
                (["Origin: https://evil.example", "X-Forwarded-Host: evil.example"], 403),
            ]
            for (fields, status) in requests {
                let response = try await withConnection(to: server) { try await $0.send("GET", "/openrpc.json", fields) }
                #expect(response.status == status, "\(fields)")
            }
        }
    }

    @Test(arguments: [
        // The listening address, the trusted proxy, the fields, and whether the request counts as one by TLS.
        ("127.0.0.1", "127.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: https"], true),
        ("127.0.0.1", "127.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: HTTPS, https"], true),
        ("127.0.0.1", "127.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: https, http"], false),
        ("127.0.0.1", "127.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: https", "X-Forwarded-Proto: http"], false),
        ("127.0.0.1", "127.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: "], false),
        ("127.0.0.1", "127.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: http"], false),
        ("127.0.0.1", "127.0.0.1", ["Host: data.example.org"], false),
        // Browsers would keep to TLS for all servers of the machine.
        ("127.0.0.1", "127.0.0.1", ["Host: localhost:8080", "X-Forwarded-Proto: https"], false),
        ("127.0.0.1", "10.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: https"], false),
        ("0.0.0.0", "127.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: https"], true),
        ("0.0.0.0", "10.0.0.1", ["Host: data.example.org", "X-Forwarded-Proto: https"], false),
    ])
    func `Browsers are told to keep to TLS if a trusted proxy says that they use it`(
        host: String,
        proxy: String,
        fields: [String],
        isSecure: Bool
    ) async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.host, host).with(\.allowedHosts, ["data.example.org"])
            .with(\.trustedProxies, [CIDRBlock(proxy)].compactMap(\.self))
        try await withServer(configuration, rules: "service cloud.firestore {}") { server in
            let response = try await withConnection(to: server) { try await $0.send("GET", "/health", fields) }
            #expect(response.status == 200)
            #expect(response["strict-transport-security"] == (isSecure ? "max-age=31536000" : nil))
        }
    }

    @Test(arguments: ["127.0.0.1", "10.0.0.1"])
    func `A session that begins by TLS in front of a trusted proxy has a Secure cookie`(proxy: String) async throws {
        let configuration = HTTPServerConfiguration.standard.with(
            \.trustedProxies,
            [CIDRBlock(proxy)].compactMap(\.self)
        )
        try await withServer(configuration, hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            let fields = ["X-Forwarded-Proto: https"]
            var browser = TestBrowser(server)
            let page = try await browser.get("/admin/sign-in", fields)
            let form = "key=\(key)&next=/admin/&form-token=\(page.formToken)"
            let origin = ["Sec-Fetch-Site: same-origin"]
            let response = try await browser.post("/admin/sign-in", form, origin + fields)
            #expect(response.status == 303)
            let isTrusted = proxy == "127.0.0.1"
            #expect((browser.cookies["__Host-session"] != nil) == isTrusted)
            #expect(response["set-cookie"]?.hasSuffix("; Secure") == isTrusted)
        }
    }
}
