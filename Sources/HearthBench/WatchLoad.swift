import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// Watchers of one collection, each on a connection of its own.
final class WatchLoad: Sendable {
    /// What one watcher has been told.
    struct Tally {
        var frames = 0
        /// Sequence numbers that came when another was due.
        var disorder = 0
        /// From the commit's time to the frame, in milliseconds; of some watchers.
        var delays: [Double] = []
        fileprivate var last: UInt64 = 0
    }

    private let tallies: Mutex<[Tally]>
    private let group: MultiThreadedEventLoopGroup
    private let channels = Mutex<[any Channel]>([])

    init(watchers: Int) {
        tallies = Mutex(Array(repeating: Tally(), count: watchers))
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    }

    /// Connects all watchers, and returns once each has been told the state.
    func start(_ collection: String, port: Int) async throws {
        let count = tallies.withLock(\.count)
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

    /// Stops a watcher from reading; its connection stays open.
    func stall(_ number: Int) async throws {
        let channel = channels.withLock { $0[number] }
        try await channel.setOption(ChannelOptions.autoRead, value: false).get()
    }

    /// Waits until all watchers but `except` have been told of so many changes, or no more comes.
    func wait(for frames: Int, except: Int? = nil) async throws {
        var last = -1
        while true {
            let (done, sum) = tallies.withLock { tallies in
                (
                    tallies.indices.allSatisfy { $0 == except || tallies[$0].frames >= frames },
                    tallies.reduce(0) { $0 + $1.frames }
                )
            }
            if done || sum == last { return }
            last = sum
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// What the watchers have been told since the last time that this was asked.
    func takeTallies() -> [Tally] {
        tallies.withLock { tallies in
            let taken = tallies
            for index in tallies.indices {
                tallies[index].frames = 0
                tallies[index].disorder = 0
                tallies[index].delays = []
            }
            return taken
        }
    }

    /// Closes all connections.
    func stop() async throws {
        for channel in channels.withLock(\.self) { try? await channel.close() }
        try await group.shutdownGracefully()
    }

    /// How many of the watchers measure delays.
    private static let measured = 20

    fileprivate func note(_ line: ByteBufferView, of number: Int) {
        guard let sequence = Self.number(after: "\"seq\":", in: line) else { return }
        let stride = max(1, tallies.withLock(\.count) / Self.measured)
        let delay = number.isMultiple(of: stride) ? Self.delay(of: line) : nil
        tallies.withLock { tallies in
            if tallies[number].last != 0, sequence != tallies[number].last + 1 { tallies[number].disorder += 1 }
            tallies[number].last = sequence
            tallies[number].frames += 1
            if let delay { tallies[number].delays.append(delay) }
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

/// Cuts a response into lines; what else there is of HTTP is on lines of its own.
private final class WatcherConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let number: Int
    private let load: WatchLoad
    private let current: EventLoopPromise<Void>
    private var isCurrent = false
    private var rest = ByteBuffer()

    init(_ number: Int, of load: WatchLoad, current: EventLoopPromise<Void>) {
        self.number = number
        self.load = load
        self.current = current
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        rest.writeBuffer(&part)
        while let end = rest.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest.readableBytesView[..<end]
            if isCurrent {
                if line.starts(with: Self.change) { load.note(line, of: number) }
            } else if line.starts(with: "{\"type\":\"current\"".utf8) {
                isCurrent = true
                current.succeed()
            }
            rest.moveReaderIndex(to: end + 1)
        }
        rest.discardReadBytes()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isCurrent { current.fail(HTTPLoad.UnexpectedAnswer(description: "A stream ended before it had begun")) }
    }

    private static let change = Array("{\"type\":\"modified\"".utf8)
}
