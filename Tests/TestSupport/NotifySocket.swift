import Foundation
import Glibc
import Testing

/// The socket on which a service manager receives the notifications of a process.
package final class NotifySocket: Sendable {
    private let descriptor: Int32
    private let messages: AsyncStream<String>

    /// Binds a socket.
    ///
    /// - Parameters:
    ///   - name: A path, or after `@` a name in the abstract namespace.
    ///   - delay: The time in seconds until the first message is received.
    package init(_ name: String, receivingAfter delay: Double = 0) throws {
        descriptor = try Self.bind(name)
        messages = Self.messages(from: descriptor, after: delay)
    }

    private static func bind(_ name: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var bytes = Array(name.utf8)
        let isAbstract = bytes.first == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let count = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + (isAbstract ? 0 : 1))
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, count) }
        }
        try #require(result == 0, "bind: \(errno)")
        return descriptor
    }

    deinit {
        // Ends the thread, which closes the socket.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Receives messages as they come, so that senders don't have to wait.
    private static func messages(from descriptor: Int32, after delay: Double) -> AsyncStream<String> {
        let (messages, continuation) = AsyncStream.makeStream(of: String.self)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: delay)
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                continuation.yield(String(decoding: buffer.prefix(count), as: UTF8.self))
            }
            continuation.finish()
            close(descriptor)
        }
        return messages
    }

    /// Waits for the next message and returns its lines.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    package func receive() async throws -> [String] {
        for await message in messages { return message.split(separator: "\n").map(String.init) }
        throw CancellationError()
    }
}
