import Foundation
import Testing

/// The socket on which a service manager receives the notifications of a process.
package final class NotifySocket: Sendable {
    private let descriptor: Int32

    /// Binds a socket.
    ///
    /// - Parameter name: A path, or after `@` a name in the abstract namespace.
    package init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var bytes = Array(name.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let count = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, count) }
        }
        try #require(result == 0, "bind: \(errno)")
    }

    deinit {
        close(descriptor)
    }

    /// Waits for the next message and returns its lines.
    package func receive() async throws -> [String] {
        let message = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = recv(self.descriptor, &buffer, buffer.count, 0)
                continuation.resume(returning: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
            }
        }
        return message.split(separator: "\n").map(String.init)
    }
}
