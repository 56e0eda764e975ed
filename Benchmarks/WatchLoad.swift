import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Watchers of one collection, each with its own connection.
final class WatchLoad: Sendable {
    /// The statistics of a watcher.
    struct WatcherStatistics {
        var frames = 0
        /// The number of frames received out of order.
        var outOfOrder = 0
        /// The delays from commit time to frame in milliseconds, for a sample of the watchers.
        var delays: [Double] = []
        fileprivate var last: UInt64 = 0
    }

    private let statistics: Mutex<[WatcherStatistics]>
    private let group: MultiThreadedEventLoopGroup
    private let channels = Mutex<[any Channel]>([])

    init(watchers: Int) {
        statistics = Mutex(Array(repeating: WatcherStatistics(), count: watchers))
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Connects all watchers and waits until each has received the initial state.
    func start(_ collection: String, port: Int) async throws {
        let count = statistics.withLock(\.count)
        for number in 0..<count {
            let current = group.next().makePromise(of: Void.self)
            let channel = try await ClientBootstrap(group: group).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(WatcherConnection(number, of: self, current: current))
                }
            }.connect(host: "127.0.0.1", port: port).get()
            channels.withLock { $0.append(channel) }
            let request = "GET /watch?collection=\(collection) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n"
            try await channel.writeAndFlush(ByteBuffer(string: request))
            try await current.futureResult.get()
        }
    }

    /// Stops reading on the connection of a watcher.
    func stall(_ number: Int) async throws {
        let channel = channels.withLock { $0[number] }
        try await channel.setOption(ChannelOptions.autoRead, value: false).get()
    }

    /// Waits until all watchers except `except` have received `frames` changes, or no more arrive.
    func wait(for frames: Int, except: Int? = nil) async throws {
        var last = -1
        while true {
            let (done, sum) = statistics.withLock { statistics in
                (
                    statistics.indices.allSatisfy { $0 == except || statistics[$0].frames >= frames },
                    statistics.reduce(0) { $0 + $1.frames }
                )
            }
            if done || sum == last { return }
            last = sum
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Returns and resets the statistics.
    func drainStatistics() -> [WatcherStatistics] {
        statistics.withLock { statistics in
            let result = statistics
            for index in statistics.indices {
                statistics[index].frames = 0
                statistics[index].outOfOrder = 0
                statistics[index].delays = []
            }
            return result
        }
    }

    /// Closes all connections.
    func stop() async throws {
        for channel in channels.withLock(\.self) { try? await channel.close() }
        try await group.shutdownGracefully()
    }

    /// The number of watchers that measure delays.
    private static let sampleCount = 20

    fileprivate func record(_ line: ByteBufferView, of number: Int) {
        guard let sequence = Self.number(after: "\"seq\":", in: line) else { return }
        let stride = max(1, statistics.withLock(\.count) / Self.sampleCount)
        let delay = number.isMultiple(of: stride) ? Self.delay(of: line) : nil
        statistics.withLock { statistics in
            if statistics[number].last != 0, sequence != statistics[number].last + 1 { statistics[number].outOfOrder += 1 }
            statistics[number].last = sequence
            statistics[number].frames += 1
            if let delay { statistics[number].delays.append(delay) }
        }
    }

    private static func delay(of line: ByteBufferView) -> Double? {
        let mark = Array("\"time\":\"".utf8)
        guard let range = line.firstRange(of: mark) else { return nil }
        let text = String(decoding: line[range.upperBound...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        guard let time = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) else { return nil }
        return Date().timeIntervalSince(time) * 1_000
    }

    private static func number(after mark: String, in line: ByteBufferView) -> UInt64? {
        guard let range = line.prefix(80).firstRange(of: Array(mark.utf8)) else { return nil }
        return line[range.upperBound...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .reduce(0) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
    }
}

/// Splits a response into lines. Chunk headers are on separate lines and ignored.
private final class WatcherConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let number: Int
    private let load: WatchLoad
    private let current: EventLoopPromise<Void>
    private var isCurrent = false
    private var buffer = ByteBuffer()

    init(_ number: Int, of load: WatchLoad, current: EventLoopPromise<Void>) {
        self.number = number
        self.load = load
        self.current = current
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        buffer.writeBuffer(&part)
        while let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let line = buffer.readableBytesView[..<end]
            if isCurrent {
                if line.starts(with: Self.change) { load.record(line, of: number) }
            } else if line.starts(with: "{\"type\":\"current\"".utf8) {
                isCurrent = true
                current.succeed()
            }
            buffer.moveReaderIndex(to: end + 1)
        }
        buffer.discardReadBytes()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isCurrent {
            current.fail(HTTPLoad.UnexpectedResponse(description: "A stream ended before its initial state was complete."))
        }
    }

    private static let change = Array("{\"type\":\"modified\"".utf8)
}
