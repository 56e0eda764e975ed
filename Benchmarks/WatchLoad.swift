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

    /// The protocol of a stream: the request, and the lines of the response.
    struct Format: Sendable {
        /// The complete HTTP request.
        var request: String
        /// The beginning of the line after which the stream is live.
        var current: [UInt8]
        /// The beginning of the line of a change.
        var change: [UInt8]
        /// The text before the sequence number in the line of a change.
        var sequence: [UInt8]

        /// A stream of Hearth.
        static func hearth(_ collection: String, port: Int, token: String? = nil) -> Format {
            let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            return Format(
                request: "GET /watch?collection=\(collection) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(authorization)\r\n",
                current: Array(#"{"type":"current""#.utf8),
                change: Array(#"{"type":"modified""#.utf8),
                sequence: Array(#""seq":"#.utf8)
            )
        }
    }

    private let statistics: Mutex<[WatcherStatistics]>
    private let group: MultiThreadedEventLoopGroup
    private let channels = Mutex<[any Channel]>([])

    /// Every which watcher measures delays.
    private let sampleStride: Int

    init(watchers: Int) {
        sampleStride = max(1, watchers / Self.sampleCount)
        statistics = Mutex(Array(repeating: WatcherStatistics(), count: watchers))
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Connects all watchers and waits until each has received the initial state.
    func start(_ format: Format, port: Int) async throws {
        let count = statistics.withLock(\.count)
        for number in 0..<count {
            let current = group.next().makePromise(of: Void.self)
            let channel = try await ClientBootstrap(group: group).channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(WatcherConnection(number, of: self, format, current: current))
                }
            }.connect(host: "127.0.0.1", port: port).get()
            channels.withLock { $0.append(channel) }
            try await channel.writeAndFlush(ByteBuffer(string: format.request))
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

    fileprivate func record(_ line: Slice<UnsafeRawBufferPointer>, of number: Int, _ format: Format) {
        guard let sequence = Self.number(after: format.sequence, in: line) else { return }
        let delay = number.isMultiple(of: sampleStride) ? Self.delay(of: line) : nil
        statistics.withLock { statistics in
            if statistics[number].last != 0, sequence != statistics[number].last + 1 { statistics[number].outOfOrder += 1 }
            statistics[number].last = sequence
            statistics[number].frames += 1
            if let delay { statistics[number].delays.append(delay) }
        }
    }

    private static func delay(of line: Slice<UnsafeRawBufferPointer>) -> Double? {
        guard let range = line.firstRange(of: timeMark) else { return nil }
        let text = String(decoding: line[range.upperBound...].prefix { $0 != UInt8(ascii: "\"") }, as: UTF8.self)
        guard let time = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) else { return nil }
        return Date().timeIntervalSince(time) * 1_000
    }

    private static let timeMark = Array("\"time\":\"".utf8)

    private static func number(after mark: [UInt8], in line: Slice<UnsafeRawBufferPointer>) -> UInt64? {
        guard let range = line.prefix(160).firstRange(of: mark) else { return nil }
        return line[range.upperBound...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .reduce(0) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
    }
}

/// Splits a response into lines. Chunk headers are on separate lines and ignored.
private final class WatcherConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let number: Int
    private let load: WatchLoad
    private let format: WatchLoad.Format
    private let current: EventLoopPromise<Void>
    private var isCurrent = false
    private var buffer = ByteBuffer()

    init(_ number: Int, of load: WatchLoad, _ format: WatchLoad.Format, current: EventLoopPromise<Void>) {
        self.number = number
        self.load = load
        self.format = format
        self.current = current
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        buffer.writeBuffer(&part)
        buffer.readWithUnsafeReadableBytes { bytes in
            guard let base = bytes.baseAddress else { return 0 }
            var start = 0
            while let found = memchr(base + start, CInt(UInt8(ascii: "\n")), bytes.count - start) {
                let end = UnsafeRawPointer(found) - base
                receive(bytes[start..<end])
                start = end + 1
            }
            return start
        }
        buffer.discardReadBytes()
    }

    private func receive(_ line: Slice<UnsafeRawBufferPointer>) {
        if isCurrent {
            if line.starts(with: format.change) { load.record(line, of: number, format) }
        } else if line.starts(with: format.current) {
            isCurrent = true
            current.succeed()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isCurrent {
            current.fail(HTTPLoad.UnexpectedResponse(description: "A stream ended before its initial state was complete."))
        }
    }
}
