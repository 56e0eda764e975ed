import JSONRPC
import StrictJSON
import Synchronization

let testTable = MethodTable<Recorder>(
    [Echo.self, Subtract.self, Record.self, Wait.self, Fail.self, Find.self, Forgetful.self],
    discoverableBy: .use,
    info: OpenRPCInfo(
        title: "Test",
        version: "1.0",
        description: "Methods for tests.",
        servers: [OpenRPCInfo.Server(name: "here", url: "http://127.0.0.1:8080/rpc")]
    )
)

/// A server on the test methods, with what they executed and what went to the log.
struct TestServer {
    let recorder: Recorder
    let log = FailureLog()
    let server: RPCServer<Recorder>

    init(
        limits: RPCLimits = RPCLimits(),
        answers: AnswerBudget = .unlimited,
        clock: any Clock<Duration> = FrozenClock(),
        denying denied: Recorder.Right? = nil
    ) {
        recorder = Recorder(denying: denied)
        self.server = RPCServer(methods: testTable, limits: limits, answers: answers, clock: clock) { [log] in log.append($0) }
    }

    /// The reply to a body, as text; `nil` when there is none.
    func reply(to body: String) async -> UTF8Key? {
        await reply(to: Array(body.utf8))
    }

    func reply(to body: [UInt8]) async -> UTF8Key? {
        switch await server.handle(body, context: recorder) {
        case .response(let answer): UTF8Key(String(decoding: answer.joined(), as: UTF8.self))
        case .nothing, .refused: nil
        }
    }

    /// The reply to a body, parsed.
    func response(to body: String) async throws -> JSONNode {
        guard let reply = await reply(to: body) else { throw NoReply() }
        return try JSONText(reply.string).root
    }
}

struct NoReply: Error {}

final class FailureLog: Sendable {
    private let failures = Mutex<[UnexpectedFailure]>([])

    var all: [UnexpectedFailure] {
        failures.withLock { $0 }
    }

    func append(_ failure: UnexpectedFailure) {
        failures.withLock { $0.append(failure) }
    }
}

extension JSONNode {
    /// The text of a value, for comparison.
    var text: UTF8Key {
        UTF8Key(String(decoding: rawBytes, as: UTF8.self))
    }

    /// The code of the error in a response.
    var errorCode: Int64? {
        guard case .integer(let code)? = self["error"]?["code"]?.number else { return nil }
        return code
    }
}

/// Time stands still: sleeping ends by cancellation only.
struct FrozenClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    var now: Instant { Instant() }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await untilCancelled()
        try Task.checkCancellation()
    }
}

/// Time flies: any sleep is over at once.
struct InstantClock: Clock {
    var now: FrozenClock.Instant { FrozenClock.Instant() }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: FrozenClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
    }
}

/// A clock on which sleeping takes no time, and moves it on.
final class SteppingClock: Clock {
    private let time = Mutex(FrozenClock.Instant())

    var now: FrozenClock.Instant { time.withLock(\.self) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: FrozenClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline) }
    }
}

/// Returns when the task is cancelled.
func untilCancelled() async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    for await _ in stream {}
    continuation.finish()
}
