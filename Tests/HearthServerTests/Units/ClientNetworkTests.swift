import NIOCore
import StrictJSON
import Testing

@testable import HearthServer

/// Whom limits by address take for one client.
@Suite("Networks of clients")
struct ClientNetworkTests {
    @Test(
        "An IPv4 address counts for itself, one of IPv6 with all of its network",
        arguments: [
            ("192.0.2.1", "192.0.2.1", false), ("127.0.0.1", "127.0.0.1", true), ("127.8.9.1", "127.8.9.1", true),
            ("::ffff:192.0.2.1", "192.0.2.1", false), ("::ffff:127.0.0.1", "127.0.0.1", true), ("::1", "::1", true),
            ("2001:db8::1", "2001:db8::/64", false), ("2001:db8:0:0:ffff:1:2:3", "2001:db8::/64", false),
            ("2001:db8:0:1::1", "2001:db8:0:1::/64", false), ("::2", "::/64", false),
            ("fe80::1234:5678", "fe80::/64", false),
        ] as [(String, String, Bool)]
    )
    func networks(address: String, name: String, isLoopback: Bool) throws {
        let client = try #require(IPAddress(SocketAddress(ipAddress: address, port: 80)))
        #expect(client.network == UTF8Key(name))
        #expect(client.isLoopback == isLoopback)
    }

    @Test("Streams from many addresses of one network have one limit")
    func streams() throws {
        let slots = WatchSlots(limit: 10, limitPerAddress: 2, limitPerKey: 10)
        let names = try (1...3).map { try #require(IPAddress("2001:db8::\($0)")).network }
        let held = [try slots.take(for: names[0], key: nil), try slots.take(for: names[1], key: nil)]
        #expect(throws: WatchSlots.Refusal.addressIsFull) { try slots.take(for: names[2], key: nil) }
        let other = try #require(IPAddress("2001:db8:0:1::1")).network
        let elsewhere = try slots.take(for: other, key: nil)
        withExtendedLifetime((held, elsewhere)) {}
    }
}
