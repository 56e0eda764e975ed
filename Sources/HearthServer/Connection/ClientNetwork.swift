internal import Glibc
internal import NIOCore
internal import StrictJSON

/// Whom limits by address take for one client: who has an IPv4 address, or a network of IPv6.
///
/// A subscriber gets an IPv6 network of 64 bits or more, and can draw any number of addresses from it; so all of them count
/// together.
struct ClientNetwork: Hashable, CustomStringConvertible {
    /// As a text: an address, or the beginning of a network with its length, `2001:db8:0:1::/64`.
    let name: UTF8Key
    /// Whether it is this machine, whose address all clients of a proxy here have.
    let isLoopback: Bool

    var description: String { name.string }

    /// The network of an address; nil where there is none, as with a socket of the file system.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        guard let bytes = Self.bytes(ofIPv6: text) else {
            self.init(text, isLoopback: text.utf8.starts(with: "127.".utf8))
            return
        }
        if bytes.starts(with: Self.mappedPrefix) {
            self.init(Self.text(bytes.dropFirst(Self.mappedPrefix.count)), isLoopback: bytes[12] == 127)
        } else if text.utf8.elementsEqual("::1".utf8) {
            self.init(text, isLoopback: true)
        } else {
            self.init(Self.text(bytes.prefix(8) + [UInt8](repeating: 0, count: 8)) + "/64", isLoopback: false)
        }
    }

    private init(_ name: String, isLoopback: Bool) {
        self.name = UTF8Key(name)
        self.isLoopback = isLoopback
    }

    /// How IPv4 addresses begin where IPv6 is listened on.
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    private static func bytes(ofIPv6 text: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        return inet_pton(AF_INET6, text, &bytes) == 1 ? bytes : nil
    }

    /// The text of 4 or 16 bytes.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0).ipAddress) ?? ""
    }
}
