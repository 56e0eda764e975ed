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
    private let bodyExecutor: LargeBodyExecutor

    init(_ context: ServiceContext, _ server: ServerResources) {
        self.context = context
        self.notificationStatus = server.configuration.notificationStatus
        self.bodyExecutor = server.bodyExecutor
        self.server = RPCServer(
            limits: context.server.limits.rpc,
            responseBudget: server.responseBudget,
            metrics: context.server.metrics.calls,
            isTraced: server.isTraced,
            logger: server.logger
        )
    }

    var policy: RoutePolicy {
        var policy = RoutePolicy.api
        policy.isOpenToEndUsers = true
        policy.errorFormat = .jsonRPC
        policy.body.maximumBytes = context.server.limits.maximumBodyBytes
        return policy
    }

    func respond(to request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        let body = try await request.jsonBody(by: requestContext.route.policy.body)
        let context = context.withCaller(requestContext.caller)
        let isBatch = body.first { !$0.isJSONWhitespace } == UInt8(ascii: "[")
        let reply = await bodyExecutor.run(bodyBytes: body.count, isBatch: isBatch, on: requestContext.executor) { executor in
            await server.handle(body, context: context, on: executor)
        }
        switch reply {
        case .response(let body):
            return Response(body, on: requestContext.channel.eventLoop)
        case .noContent:
            return Response(status: notificationStatus == .ok || request.usesJSONRPCMediaType ? .ok : .noContent)
        case .rejected(let error):
            throw HTTPFailure(.serviceUnavailable, error, headers: [.retryAfter: "1"])
        }
    }
}
