import Foundation

/// A watcher that reads one byte per second, with the smallest possible receive buffer.
///
/// It reads on a separate thread until the server closes the connection or the object is released.
final class SlowWatcher: Sendable {
    private let connection: Int32
    /// Yields when the initial state is complete.
    let isOpen: AsyncStream<Void>

    /// Connects to a server on this machine.
    init(_ target: String, port: UInt16) throws {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var size: Int32 = 1_024
        setsockopt(connection, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(connection, $0, length) } == 0
        }
        let request = Array("GET /watch?\(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        let (isOpen, signal) = AsyncStream<Void>.makeStream()
        self.connection = connection
        self.isOpen = isOpen
        guard isConnected, write(connection, request, request.count) == request.count else {
            throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO)
        }
        Thread.detachNewThread {
            defer { close(connection) }
            var received: [UInt8] = []
            var byte: UInt8 = 0
            while read(connection, &byte, 1) == 1 {
                received.append(byte)
                guard received.count >= Self.state.count else { continue }
                if received.suffix(Self.state.count).elementsEqual(Self.state) {
                    signal.yield()
                    signal.finish()
                    break
                }
            }
            signal.finish()
            while read(connection, &byte, 1) == 1 { sleep(1) }
        }
    }

    deinit {
        // Wakes the thread, which closes the socket.
        shutdown(connection, Int32(SHUT_RDWR))
    }

    private static let state = Array(#""type":"current""#.utf8)
}
