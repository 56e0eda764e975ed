import NIOCore
import Testing
import UTF8Text

@testable import HearthHTTP

@Suite("IP addresses")
struct IPAddressTests {
    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1", false), ("127.0.0.1", "127.0.0.1", true), ("127.8.9.1", "127.8.9.1", true),
            ("::ffff:192.0.2.1", "192.0.2.1", false), ("::ffff:127.0.0.1", "127.0.0.1", true), ("::1", "::1", true),
            ("2001:db8::1", "2001:db8::/64", false), ("2001:db8:0:0:ffff:1:2:3", "2001:db8::/64", false),
            ("2001:db8:0:1::1", "2001:db8:0:1::/64", false), ("::2", "::/64", false),
            ("fe80::1234:5678", "fe80::/64", false),
        ] as [(String, String, Bool)]
    )
    func `The client network is the IPv4 address or the IPv6 /64 network`(address: String, name: String, isLoopback: Bool) throws
    {
        let client = try #require(IPAddress(SocketAddress(ipAddress: address, port: 80)))
        #expect(client.network == UTF8Key(name))
        #expect(client.isLoopback == isLoopback)
    }

    @Test
    func `Streams from all addresses of a network share one limit`() throws {
        let slots = WatchSlots(.init(total: 10, perAddress: 2, perKey: 10))
        let names = try (1...3).map { try #require(IPAddress("2001:db8::\($0)")).network }
        let held = [try slots.acquire(for: names[0], key: nil), try slots.acquire(for: names[1], key: nil)]
        #expect(throws: WatchSlots.LimitReached.address(names[2])) { try slots.acquire(for: names[2], key: nil) }
        let other = try #require(IPAddress("2001:db8:0:1::1")).network
        let elsewhere = try slots.acquire(for: other, key: nil)
        withExtendedLifetime((held, elsewhere)) {}
    }
}
