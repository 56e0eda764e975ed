import Foundation
package import Synchronization

/// A proxy of an engine's socket, which can lose answers, and stop passing bytes as a cut network does.
package final class EngineProxy: Sendable {
    /// The fault of the connections that commit next.
    package enum Fault: CaseIterable, Sendable {
        /// The engine does not get the statements that lock the database.
        case loseLock
        /// The engine does not get the commit.
        case loseCommit
        /// The engine commits, and its answer does not arrive.
        case loseAnswer
        /// The engine gets the beginning of the commit, and then nothing, as from a server that stands still. The connection stays open.
        case stall
    }

    /// A direction of bytes.
    package enum Direction: Sendable {
        case toEngine
        case toClient
    }

    private struct State {
        /// The directions in which nothing passes.
        var cut: Set<Direction> = []
        /// The connections that have lost bytes.
        var broken: [ProxiedConnection] = []
    }

    private let state = Mutex(State())
    private let folder: TemporaryFolder
    private let engineFolder: String
    private let listener: Int32
    private let faults = Mutex<(next: [Fault], action: @Sendable () -> Void)>(([], {}))
    /// The number of faults so far.
    package let faultCount = Atomic(0)
    /// The number of connections that were made so far.
    package let connectionCount = Atomic(0)

    /// The folder of the proxy's socket.
    package var socketFolder: String { folder.path }

    package init(of engineFolder: String) throws {
        self.engineFolder = engineFolder
        folder = try TemporaryFolder(in: TemporaryFolder.memory)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let listener = listener
        let result = Self.withAddress(folder.path) { bind(listener, $0, $1) }
        guard result == 0, listen(listener, 64) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        Thread.detachNewThread { [weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 { self?.serve(client) }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Lets the next connections that make their first commit fail, one for each fault.
    ///
    /// - Parameter action: Called when a fault happens: when the engine has got all that it gets, and the client has not got the answer.
    package func prepare(_ next: [Fault], _ action: @escaping @Sendable () -> Void = {}) {
        faults.withLock { $0 = ($0.next + next, action) }
    }

    /// Stops passing bytes in some directions. No connection ends by that, and new ones can be made.
    package func cut(_ directions: Set<Direction>) {
        state.withLock { $0.cut = directions }
    }

    /// Passes bytes again. Connections that have lost some end.
    package func mend() {
        let broken = state.withLock { state in
            defer { state = State() }
            return state.broken
        }
        for connection in broken { connection.end() }
    }

    /// Returns whether bytes are lost.
    private func loses(_ direction: Direction, of connection: ProxiedConnection) -> Bool {
        state.withLock { state in
            guard state.cut.contains(direction) else { return false }
            state.broken.append(connection)
            return true
        }
    }

    private static func withAddress(_ folder: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: Array("\(folder)/.s.PGSQL.5432".utf8) + [0])
        }
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    private func serve(_ client: Int32) {
        connectionCount.add(1, ordering: .relaxed)
        let engine = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard Self.withAddress(engineFolder, { connect(engine, $0, $1) }) == 0 else {
            close(client)
            close(engine)
            return
        }
        let connection = ProxiedConnection(client: client, engine: engine)
        Thread.detachNewThread { [self] in
            connection.pass(from: client, to: engine) { bytes in
                guard !loses(.toEngine, of: connection), !connection.isStalled.load(ordering: .relaxed) else { return .drop }
                // The text of a statement is sent when it is prepared, at its first use on a connection.
                let (locks, commits) = (bytes.contains("FOR UPDATE"), bytes.contains("INSERT INTO hearth.commits"))
                guard locks || commits, let fault = takeFault(where: { $0 == .loseLock ? locks : commits }) else { return .pass }
                switch fault.kind {
                case .loseLock, .loseCommit:
                    fault.action()
                    return .cut
                case .loseAnswer:
                    connection.losesAnswer.store(true, ordering: .relaxed)
                    return .pass
                case .stall:
                    connection.isStalled.store(true, ordering: .relaxed)
                    // The next statement is not complete.
                    let end = bytes.range(of: Data("INSERT INTO hearth.changes".utf8))?.lowerBound ?? 0
                    return .passPrefix(end, then: fault.action)
                }
            }
        }
        Thread.detachNewThread { [self] in
            connection.pass(from: engine, to: client) { bytes in
                guard !loses(.toClient, of: connection) else { return .drop }
                guard connection.losesAnswer.load(ordering: .relaxed) else { return .pass }
                // The tag of the command's completion.
                guard bytes.contains("COMMIT\0") else { return .drop }
                faults.withLock(\.action)()
                return .cut
            }
        }
    }

    private func takeFault(where isNext: (Fault) -> Bool) -> (kind: Fault, action: @Sendable () -> Void)? {
        let fault = faults.withLock { faults -> (Fault, @Sendable () -> Void)? in
            guard let first = faults.next.first, isNext(first) else { return nil }
            faults.next.removeFirst()
            return (first, faults.action)
        }
        if fault != nil { faultCount.add(1, ordering: .relaxed) }
        return fault
    }
}

/// The treatment of bytes.
private enum Passage {
    case pass
    /// Only a number of bytes pass, before an action.
    case passPrefix(Int, then: () -> Void)
    case drop
    /// The connection ends.
    case cut
}

/// A connection through the proxy.
private final class ProxiedConnection: Sendable {
    private let client: Int32
    private let engine: Int32
    let losesAnswer = Atomic(false)
    /// True if the engine gets nothing more.
    let isStalled = Atomic(false)
    /// The number of directions that are passed; the sockets are closed when there are none.
    private let openCount = Mutex(2)

    init(client: Int32, engine: Int32) {
        (self.client, self.engine) = (client, engine)
    }

    /// Passes bytes on until the connection ends.
    func pass(from source: Int32, to target: Int32, _ decide: (Data) -> Passage) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        reading: while case let count = read(source, &buffer, buffer.count), count > 0 {
            let bytes = Data(buffer.prefix(count))
            switch decide(bytes) {
            case .pass: guard Self.send(bytes, to: target) else { break reading }
            case .passPrefix(let count, let action):
                guard Self.send(bytes.prefix(count), to: target) else { break reading }
                action()
            case .drop: continue
            case .cut: break reading
            }
        }
        end()
        openCount.withLock { count in
            count -= 1
            guard count == 0 else { return }
            close(client)
            close(engine)
        }
    }

    private static func send(_ bytes: Data, to target: Int32) -> Bool {
        bytes.withUnsafeBytes { Glibc.send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == bytes.count
    }

    /// Ends the connection.
    func end() {
        openCount.withLock { count in
            guard count > 0 else { return }
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(engine, Int32(SHUT_RDWR))
        }
    }
}

extension Data {
    fileprivate func contains(_ text: String) -> Bool { range(of: Data(text.utf8)) != nil }
}
