import DocumentModel
import Foundation
import Synchronization

/// A TCP proxy that cuts connections after a number of bytes, refuses them, or passes nothing on.
///
/// Each connection has two threads, which end with it.
final class CuttingProxy: Sendable {
    private struct State {
        /// The number of bytes after which the next connections are cut; `nil` to cut none.
        var limit: Int?
        /// The numbers of bytes after which the next connection alone is cut.
        var next: (request: Int?, response: Int?)?
        var target: UInt16
        var isRefusing = false
        var isSilent = false
        var connections: Set<Int32> = []
    }

    /// The port on which the proxy listens.
    let port: Int
    private let listener: Int32
    private let state: Mutex<State>

    /// Starts a proxy on a free port of the loopback interface.
    ///
    /// - Parameter target: The port to which it connects.
    init(to target: Int) throws {
        state = Mutex(State(target: UInt16(target)))
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, pointer, &length) == 0
            }
        }
        guard bound else { throw StatusError(.unavailable, "The proxy cannot listen (\(errno)).") }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in accept() }
    }

    /// Cuts the open connections, and each later one after a number of bytes of its responses.
    func cut(after limit: Int?) {
        let open = state.withLock { state in
            state.limit = limit
            return state.connections
        }
        for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    /// Cuts the open connections, and the next one alone after a number of bytes of its requests, or of its responses.
    func cutNext(afterRequestBytes request: Int? = nil, responseBytes response: Int? = nil) {
        cut(after: nil)
        state.withLock { $0.next = (request, response) }
    }

    /// Cuts the open connections, and connects later ones to another port.
    func retarget(to port: Int) {
        state.withLock { $0.target = UInt16(port) }
        cut(after: nil)
    }

    /// Cuts the open connections, and refuses later ones as long as it is told to.
    func setRefusing(_ isRefusing: Bool) {
        state.withLock { $0.isRefusing = isRefusing }
        if isRefusing { cut(after: nil) }
    }

    /// Passes nothing on as long as it is told to, in either direction, as a network that loses all packets.
    func setSilent(_ isSilent: Bool) {
        state.withLock { $0.isSilent = isSilent }
    }

    /// Ends the proxy.
    func stop() {
        setSilent(false)
        setRefusing(true)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else {
                close(listener)
                return
            }
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.loopback(port: state.withLock(\.target))
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    connect(server, pointer, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            let limits = state.withLock { state -> (request: Int?, response: Int?)? in
                guard isConnected, !state.isRefusing else { return nil }
                state.connections.formUnion([client, server])
                defer { state.next = nil }
                return state.next ?? (nil, state.limit)
            }
            guard let limits else {
                close(client)
                close(server)
                continue
            }
            let pumps = Pumps()
            Thread.detachNewThread { [self] in pump(from: client, to: server, limit: limits.request, pumps) }
            Thread.detachNewThread { [self] in pump(from: server, to: client, limit: limits.response, pumps) }
        }
    }

    /// The threads of a connection: the last one to end closes it.
    private final class Pumps: Sendable {
        private let count = Mutex(2)

        func end() -> Bool {
            count.withLock { count in
                count -= 1
                return count == 0
            }
        }
    }

    private func pump(from source: Int32, to target: Int32, limit: Int?, _ pumps: Pumps) {
        var rest = limit ?? .max
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while rest > 0 {
            let count = recv(source, &buffer, min(buffer.count, rest), 0)
            while state.withLock(\.isSilent) { usleep(10_000) }
            guard count > 0, send(target, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
            rest -= count
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
        guard pumps.end() else { return }
        state.withLock { $0.connections.subtract([source, target]) }
        close(source)
        close(target)
    }
}
