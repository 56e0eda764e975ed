internal import Glibc
internal import NIOCore
internal import UTF8Text

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address, as a dual-stack socket reports it, equals the IPv4 address.
struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    /// The prefix of IPv4-mapped IPv6 addresses, `::ffff:0:0/96`.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    init(bytes: [UInt8]) {
        self.bytes = bytes.count == 16 && bytes.starts(with: Self.mappedPrefix) ? Array(bytes.dropFirst(12)) : bytes
    }

    /// Parses an address; `nil` for invalid input. IPv4 requires four numbers without leading zeros; IPv6 allows no zone.
    init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            guard inet_pton(family, text, &bytes) == 1 else { continue }
            self.init(bytes: bytes)
            return
        }
        return nil
    }

    /// Creates the IP address of a socket address; `nil` for a Unix domain socket.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    /// True if this is a loopback address.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The textual form.
    var text: String {
        (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0).ipAddress) ?? ""
    }

    /// The key for per-client limits: an IPv4 address, or the /64 network of an IPv6 address, such as `2001:db8:0:1::/64`.
    ///
    /// A subscriber is assigned at least a /64 and can use any address in it, so all of them count as one client.
    var network: UTF8Key {
        guard bytes.count == 16, !isLoopback else { return UTF8Key(text) }
        return UTF8Key(IPAddress(bytes: bytes.prefix(8) + [UInt8](repeating: 0, count: 8)).text + "/64")
    }
}
