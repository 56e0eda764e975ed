import HTTPTypes
import HearthAPI
import Hummingbird
import JSONRPC
import Logging
import StrictJSON

/// `POST /rpc`: JSON-RPC calls.
///
/// Once a body has been parsed, the status is 200 even for errors: JSON-RPC clients discard the error's code and message with any
/// other status.
struct RPCRoute: Sendable {
    private let server: RPCServer<ServiceContext>
    private let context: ServiceContext
    private let notificationStatus: HTTPServerConfiguration.NotificationStatus
    private let bodyExecutor: BodyExecutor

    init(
        _ context: ServiceContext,
        responseBudget: ResponseBudget,
        bodyExecutor: BodyExecutor,
        configuration: HTTPServerConfiguration,
        logger: Logger
    ) {
        self.context = context
        self.notificationStatus = configuration.notificationStatus
        self.bodyExecutor = bodyExecutor
        self.server = RPCServer(limits: context.server.limits.rpc, responseBudget: responseBudget, logger: logger)
    }

    func respond(to request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        let body = try await request.jsonBody(atMost: context.server.limits.maximumBodyBytes)
        let context = context.calling(as: requestContext.caller)
        let isBatch = body.first { !$0.isJSONWhitespace } == UInt8(ascii: "[")
        let reply = await bodyExecutor.run(bodyBytes: body.count, isBatch: isBatch) { executor in
            await server.handle(body, context: context, on: executor)
        }
        switch reply {
        case .response(let body):
            return Response(body, on: requestContext.channel.eventLoop)
        case .noContent:
            return Response(status: notificationStatus == .ok || request.namesJSONRPC ? .ok : .noContent)
        case .rejected(let error):
            throw HTTPFailure(.serviceUnavailable, error, headers: [.retryAfter: "1"])
        }
    }
}
