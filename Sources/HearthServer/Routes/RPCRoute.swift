import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC
import Logging
import StrictJSON

/// `POST /rpc`: JSON-RPC calls.
///
/// Whatever reached the parser is answered with 200, errors included: clients of JSON-RPC lose an error's code and message
/// when the status is another.
struct RPCRoute: Sendable {
    private let server: RPCServer<ServiceContext>
    private let context: ServiceContext
    private let notificationStatus: HearthServerConfiguration.NotificationStatus
    private let largeBodies: LargeBodies

    init(
        _ context: ServiceContext,
        answers: AnswerBudget,
        largeBodies: LargeBodies,
        configuration: HearthServerConfiguration,
        logger: Logger
    ) {
        self.context = context
        self.notificationStatus = configuration.notificationStatus
        self.largeBodies = largeBodies
        self.server = RPCServer(limits: context.server.limits.rpc, answers: answers, logger: logger)
    }

    func respond(to request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        let body = try await request.jsonBody(atMost: context.server.limits.maximumBodyBytes)
        let context = context.calling(as: requestContext.caller)
        let isBatch = body.first { !$0.isJSONWhitespace } == UInt8(ascii: "[")
        let reply = await largeBodies.work(onBodyOf: body.count, isBatch: isBatch) { executor in
            await server.handle(body, context: context, on: executor)
        }
        switch reply {
        case .response(let answer):
            return Response(answer, on: requestContext.channel.eventLoop)
        case .nothing:
            return Response(status: notificationStatus == .ok || request.namesJSONRPC ? .ok : .noContent)
        case .refused(let error):
            throw HTTPFailure(.serviceUnavailable, error, headers: [.retryAfter: "1"])
        }
    }
}
