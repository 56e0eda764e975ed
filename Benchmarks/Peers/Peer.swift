import AsyncHTTPClient

/// A workload of `hearth-bench peers`.
enum PeerWorkload: String, CaseIterable {
    case read = "read by ID"
    case list = "list of 100 by name"
    case query = "query of 100, equality filter"
    case update = "update"
    case create = "create"
    case compareAndSet = "counter by compare-and-set"
    case increment = "counter by increment"
    case watch = "watch fan-out"
}

/// The load of a workload.
struct PeerLoad: Sendable {
    var connections: Int
    /// The number of callers that increment one counter.
    var callers: Int
    var watchers: Int
    /// The number of commits per second that the watchers see.
    var watchedCommits: Int
    var duration: Duration
    /// The documents that exist before the run.
    var documents: PeerDocuments
    /// The number of the run, which makes the IDs of created documents unique.
    var run: Int
}

/// A running database or server that is compared with others.
protocol Peer: Sendable {
    /// The name in the report.
    var name: String { get }

    /// Runs a workload and returns its number of operations; `nil` if the system has no such operation.
    func run(_ workload: PeerWorkload, _ load: PeerLoad) async throws -> Int?

    /// Returns the CPU time of all processes of the system.
    func processorTime() throws -> Duration

    /// Waits until the system has done the work that it had put off.
    func waitUntilIdle() async throws

    /// Stops the system.
    func stop()
}

extension Peer {
    func waitUntilIdle() async throws {}
}

/// The documents of the comparison: about 240 bytes each, in groups of 100.
struct PeerDocuments: Sendable {
    var count: Int

    static let groupSize = 100

    /// Returns a document as JSON.
    func json(_ number: Int) -> String {
        let color = String((number &* 40_503) & 0xff_ffff, radix: 16)
        let padded = String(repeating: "0", count: 6 - color.utf8.count) + color
        return """
            {"title":"Document \(Self.digits(number))","color":"#\(padded)","text":"A document of the size that many applications store, \
            with a few fields of different types.","number":\(number),"group":\(group(number)),"tags":["red","small","new"],\
            "available":true,"created":"2026-01-02T03:04:05.678Z"}
            """
    }

    /// Returns the group of a document, the field of the query.
    func group(_ number: Int) -> Int {
        number % max(1, count / Self.groupSize)
    }

    /// Returns the ID of a document that exists before the run.
    func id(_ number: Int) -> String {
        "d" + Self.digits(number)
    }

    /// Returns the number of an existing document: a fixed pseudorandom sequence, without the last `excluded` ones.
    func existing(_ index: Int, excluding excluded: Int = 0) -> Int {
        (index &* 7_919) % max(1, count - excluded)
    }

    private static func digits(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 7 - digits.utf8.count)) + digits
    }
}

extension PeerLoad {
    /// Returns the ID of the document that is created by a request of this run.
    func newID(_ index: Int) -> String { "n\(run)-\(index)" }

    /// Increments a counter from all callers until the time has passed. Returns the number of increments.
    ///
    /// - Parameter increment: Tries once, and returns whether it succeeded.
    func countIncrements(_ increment: @escaping @Sendable (HTTPClient) async throws -> Bool) async throws -> Int {
        let end = ContinuousClock.now + duration
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    var count = 0
                    while .now < end { count += try await increment(.shared) ? 1 : 0 }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
    }

    /// Writes at a constant rate while watchers wait, and returns the number of frames that they have received.
    ///
    /// - Parameter write: Writes the watched document.
    func countFrames(
        of format: WatchLoad.Format,
        port: Int,
        _ write: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Int {
        let load = WatchLoad(watchers: watchers)
        try await load.start(format, port: port)
        let count = max(1, Int(duration / .seconds(1)) * watchedCommits)
        let start = ContinuousClock.now
        for index in 0..<count {
            try await ContinuousClock().sleep(until: start + .seconds(1) * index / watchedCommits)
            try await write(index)
        }
        try await load.wait(for: count)
        let frames = load.drainStatistics().reduce(0) { $0 + $1.frames }
        try await load.stop()
        return frames
    }
}
