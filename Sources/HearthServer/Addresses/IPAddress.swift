internal import Glibc
internal import NIOCore
internal import StrictJSON

/// An address of IPv4 or IPv6. One of IPv4 is the same where it is written as one of IPv6, as it is where both are listened on.
struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    /// How IPv4 addresses begin as those of IPv6.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    init(bytes: [UInt8]) {
        self.bytes = bytes.count == 16 && bytes.starts(with: Self.mappedPrefix) ? Array(bytes.dropFirst(12)) : bytes
    }

    /// Reads an address; nil for anything else. One of IPv4 has four numbers without leading zeros, one of IPv6 no zone.
    init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            guard inet_pton(family, text, &bytes) == 1 else { continue }
            self.init(bytes: bytes)
            return
        }
        return nil
    }

    /// The address of one side of a connection; nil where there is none, as with a socket of the file system.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    /// Whether it is this machine's own.
    var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The address as it is written.
    var text: String {
        (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0).ipAddress) ?? ""
    }

    /// Whom limits by address take for one client: who has an IPv4 address, or a network of IPv6, such as `2001:db8:0:1::/64`.
    ///
    /// A subscriber gets an IPv6 network of 64 bits or more, and can draw any number of addresses from it; so all of them count
    /// together.
    var network: UTF8Key {
        guard bytes.count == 16, !isLoopback else { return UTF8Key(text) }
        return UTF8Key(IPAddress(bytes: bytes.prefix(8) + [UInt8](repeating: 0, count: 8)).text + "/64")
    }
}
