import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import Synchronization

/// Firestore listeners of one collection over gRPC: a `Listen` stream each, several on each HTTP/2 connection.
final class ListenLoad: Sendable {
    /// The statistics of a listener.
    struct ListenerStatistics {
        /// The number of snapshots with changes.
        var commits = 0
        /// The number of documents in all snapshots.
        var documents = 0
        /// The number of messages of all kinds.
        var messages = 0
        /// The number of snapshots whose time is not later than that of the one before.
        var outOfOrder = 0
        /// The delays from commit time to snapshot in milliseconds, for a sample of the listeners.
        var delays: [Double] = []
        fileprivate var lastTime: Int64 = 0
        fileprivate var hasChanges = false
    }

    private let statistics: Mutex<[ListenerStatistics]>
    private let connectionCount: Int
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let channels = Mutex<[any Channel]>([])
    /// Every which listener measures delays.
    private let sampleStride: Int

    /// The number of listeners that measure delays.
    private static let sampleCount = 20

    init(listeners: Int, connections: Int) {
        statistics = Mutex(Array(repeating: ListenerStatistics(), count: listeners))
        connectionCount = connections
        sampleStride = max(1, listeners / Self.sampleCount)
    }

    /// Connects all listeners and waits until each has received its first snapshot.
    func start(_ collection: String, port: Int) async throws {
        let count = statistics.withLock(\.count)
        let request = try ByteBuffer.listenRequest(collection)
        for connection in 0..<connectionCount {
            let numbers = count * connection / connectionCount..<count * (connection + 1) / connectionCount
            let current = group.next().makePromise(of: Void.self)
            let channel = try await ClientBootstrap(group: group).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    // Without a channel for each stream, so that the server and not the client limits the rate.
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOHTTP2Handler(mode: .client, initialSettings: ListenConnection.settings),
                        ListenConnection(numbers, of: self, request: request, port: port, current: current),
                    ])
                }
            }.connect(host: "127.0.0.1", port: port).get()
            channels.withLock { $0.append(channel) }
            try await current.futureResult.get()
        }
    }

    /// Waits until all listeners have received `commits` snapshots with changes, or no more arrive.
    func wait(for commits: Int) async throws {
        var last = -1
        while true {
            let (done, sum) = statistics.withLock { statistics in
                (statistics.allSatisfy { $0.commits >= commits }, statistics.reduce(0) { $0 + $1.commits })
            }
            if done || sum == last { return }
            last = sum
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Returns and resets the statistics.
    func drainStatistics() -> [ListenerStatistics] {
        statistics.withLock { statistics in
            let result = statistics
            for index in statistics.indices {
                statistics[index] = ListenerStatistics(lastTime: result[index].lastTime)
            }
            return result
        }
    }

    /// Closes all connections.
    func stop() async throws {
        for channel in channels.withLock(\.self) { try? await channel.close() }
        try await group.shutdownGracefully()
    }

    fileprivate func record(_ message: ListenResponse, of number: Int) {
        let isSampled = number.isMultiple(of: sampleStride)
        statistics.withLock { statistics in
            statistics[number].messages += 1
            switch message {
            case .document:
                statistics[number].documents += 1
                statistics[number].hasChanges = true
            case .snapshot(let time) where statistics[number].hasChanges:
                statistics[number].hasChanges = false
                statistics[number].commits += 1
                if time <= statistics[number].lastTime { statistics[number].outOfOrder += 1 }
                statistics[number].lastTime = time
                if isSampled { statistics[number].delays.append(ListenResponse.milliseconds(since: time)) }
            case .snapshot, .current, .failure, .other:
                break
            }
        }
    }
}

/// The listeners of a connection.
private final class ListenConnection: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    private struct Listener {
        /// The received bytes of an incomplete message.
        var buffer = ByteBuffer()
        var isCurrent = false
        /// True after the first snapshot.
        var isStarted = false
    }

    private let numbers: Range<Int>
    private let load: ListenLoad
    private let request: ByteBuffer
    private let port: Int
    /// Completed when all listeners have received their first snapshot.
    private let current: EventLoopPromise<Void>
    private var listeners: [Listener]
    private var startedCount = 0
    private var decoder = ListenResponseDecoder()
    /// The number of received bytes by which the window of the connection has not been extended.
    private var unacknowledgedByteCount = 0

    static let settings = [HTTP2Setting(parameter: .initialWindowSize, value: window)]
    private static let window = 1 << 30

    init(_ numbers: Range<Int>, of load: ListenLoad, request: ByteBuffer, port: Int, current: EventLoopPromise<Void>) {
        self.numbers = numbers
        self.load = load
        self.request = request
        self.port = port
        self.current = current
        listeners = Array(repeating: Listener(), count: numbers.count)
    }

    func channelActive(context: ChannelHandlerContext) {
        extendWindow(by: Self.window, context)
        for index in listeners.indices {
            let stream = HTTP2StreamID(2 * index + 1)
            write(.headers(.init(headers: .grpcCall("/google.firestore.v1.Firestore/Listen", port: port))), to: stream, context)
            write(.data(.init(data: .byteBuffer(request))), to: stream, context)
        }
        context.flush()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.payload {
        case .data(let data):
            guard case .byteBuffer(let bytes) = data.data else { return }
            receive(bytes, by: (Int(frame.streamID) - 1) / 2)
            unacknowledgedByteCount += bytes.readableBytes
        case .headers(let frame):
            if let status = frame.headers.first(name: "grpc-status") {
                fail("A listener ended with status \(status): \(frame.headers.first(name: "grpc-message") ?? "")")
            }
        case .rstStream(let code): fail("A listener was reset: \(code)")
        case .goAway(_, let code, _): fail("The server is closing a connection: \(code)")
        default: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard unacknowledgedByteCount > Self.window / 2 else { return }
        extendWindow(by: unacknowledgedByteCount, context)
        context.flush()
        unacknowledgedByteCount = 0
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail("The server closed a connection.")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        current.fail(error)
        context.close(promise: nil)
    }

    private func receive(_ bytes: ByteBuffer, by index: Int) {
        var buffer = bytes
        if listeners[index].buffer.readableBytes > 0 {
            buffer = listeners[index].buffer
            listeners[index].buffer = ByteBuffer()
            buffer.writeImmutableBuffer(bytes)
        }
        while let message = buffer.readGRPCMessage() { receive(decoder.decode(message), by: index) }
        if buffer.readableBytes > 0 { listeners[index].buffer = buffer }
    }

    private func receive(_ message: ListenResponse, by index: Int) {
        load.record(message, of: numbers.lowerBound + index)
        switch message {
        case .current: listeners[index].isCurrent = true
        case .failure(let text): fail(text)
        case .snapshot where listeners[index].isCurrent && !listeners[index].isStarted:
            listeners[index].isStarted = true
            startedCount += 1
            if startedCount == listeners.count { current.succeed() }
        case .snapshot, .document, .other: break
        }
    }

    /// Ends the start of the load. An error after it shows by what is not delivered.
    private func fail(_ description: String) {
        current.fail(HTTPLoad.UnexpectedResponse(description: description))
    }

    private func extendWindow(by count: Int, _ context: ChannelHandlerContext) {
        write(.windowUpdate(windowSizeIncrement: count), to: .rootStream, context)
    }

    private func write(_ payload: HTTP2Frame.FramePayload, to stream: HTTP2StreamID, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }
}
