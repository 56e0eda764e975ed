import Foundation

/// A watcher that reads a byte a second, into a buffer of the system that is as small as it can be.
///
/// It reads on a thread of its own, until the server closes the connection or nobody holds it any more.
final class DrippingWatcher: Sendable {
    private let connection: Int32
    /// Yields once it knows that the stream works, and then reads slowly.
    let isBegun: AsyncStream<Void>

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
        let (isBegun, begin) = AsyncStream<Void>.makeStream()
        self.connection = connection
        self.isBegun = isBegun
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
                    begin.yield()
                    begin.finish()
                    break
                }
            }
            begin.finish()
            while read(connection, &byte, 1) == 1 { sleep(1) }
        }
    }

    deinit {
        // Wakes the thread, which closes it.
        shutdown(connection, Int32(SHUT_RDWR))
    }

    private static let state = Array(#""type":"current""#.utf8)
}
