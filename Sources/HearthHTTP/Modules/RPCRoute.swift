import Concurrency
import HTTPTypes
import HearthAPI
import HummingbirdCore
import JSONRPC
import Logging
import NIOCore
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
    private let callRates: CallRateLimiter

    init(_ context: ServiceContext, _ server: ServerResources) {
        self.context = context
        self.notificationStatus = server.configuration.notificationStatus
        self.bodyExecutor = server.bodyExecutor
        self.callRates = server.callRates
        self.server = RPCServer(
            limits: context.server.limits.rpc,
            responseBudget: server.responseBudget,
            metrics: context.server.metrics.calls,
            isTraced: server.isTraced,
            queues: context.server.metrics.store.queues,
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
        let waiting = Stopwatch()
        let context = context.withCaller(requestContext.caller, requestID: requestContext.requestID)
        let isBatch = body.first { !$0.isJSONWhitespace } == UInt8(ascii: "[")
        let reply = await bodyExecutor.run(bodyBytes: body.count, isBatch: isBatch, on: requestContext.executor) { executor in
            await server.handle(body, context: context, on: executor, waiting: waiting) { count in
                do throws(HTTPFailure) {
                    try callRates.admitBatch(of: count, in: requestContext)
                    return nil
                } catch {
                    return error.error
                }
            }
        }
        switch reply {
        case .response(let body):
            return Response(body, on: requestContext.channel.eventLoop)
        case .noContent:
            return Response(status: notificationStatus == .ok || request.usesJSONRPCMediaType ? .ok : .noContent)
        case .rejected(let error):
            throw HTTPFailure(.serviceUnavailable, error, headers: error.retryHeaders)
        case .refused(let error):
            throw HTTPFailure(error)
        }
    }
}
