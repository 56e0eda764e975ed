import Concurrency
import JSONRPC
import StrictJSON
import Synchronization
import TestSupport
import UTF8Text

let testTable = MethodTable<Recorder>(
    [Echo.self, Subtract.self, Record.self, Wait.self, Fail.self, Find.self, ReadsUndeclared.self],
    discoverableBy: .use,
    info: OpenRPCInfo(
        title: "Test",
        version: "1.0",
        description: "Methods for tests.",
        servers: [OpenRPCInfo.Server(name: "here", url: "http://127.0.0.1:8080/rpc")]
    )
)

/// A server of the test methods, with a record of executed calls and logged errors.
struct RPCTestServer {
    let recorder: Recorder
    let log = UnexpectedErrorLog()
    let server: RPCServer<Recorder>

    init(
        limits: RPCLimits = RPCLimits(),
        responseBudget: MemoryBudget = .unlimited,
        clock: any Clock<Duration> = FrozenClock(),
        denying denied: Recorder.Right? = nil
    ) {
        recorder = Recorder(denying: denied)
        self.server = RPCServer(methods: testTable, limits: limits, responseBudget: responseBudget, clock: clock) { [log] in
            log.append($0)
        }
    }

    /// Returns the response to a body; `nil` if there is none.
    func reply(to body: String) async -> UTF8Key? {
        await reply(to: Array(body.utf8))
    }

    func reply(to body: [UInt8]) async -> UTF8Key? {
        switch await server.handle(body, context: recorder) {
        case .response(let body): UTF8Key(String(decoding: body.joined(), as: UTF8.self))
        case .noContent, .rejected, .refused: nil
        }
    }

    /// Returns the parsed response to a body.
    func response(to body: String) async throws -> JSONNode {
        guard let reply = await reply(to: body) else { throw NoReply() }
        return try JSONText(reply.string).root
    }
}

struct NoReply: Error {}

final class UnexpectedErrorLog: Sendable {
    private let errors = Mutex<[UnexpectedError]>([])

    var all: [UnexpectedError] {
        errors.withLock { $0 }
    }

    func append(_ error: UnexpectedError) {
        errors.withLock { $0.append(error) }
    }
}

extension JSONNode {
    /// The source text of a value.
    var text: UTF8Key {
        UTF8Key(String(decoding: rawBytes, as: UTF8.self))
    }

    /// The error code of a response.
    var errorCode: Int64? {
        guard case .integer(let code)? = self["error"]?["code"]?.number else { return nil }
        return code
    }
}
