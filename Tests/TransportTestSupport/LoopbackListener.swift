import Foundation
import Testing

/// A socket that listens on a free port of the loopback interface, for servers that misbehave. Closed on deallocation.
package final class LoopbackListener: Sendable {
    /// The file descriptor.
    package let descriptor: Int32
    package let port: UInt16

    package init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, pointer, &size) == 0
            }
        }
        descriptor = listener
        port = UInt16(bigEndian: address.sin_port)
        try #require(isListening)
    }

    deinit {
        // Ends a thread that waits for a connection.
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }
}
