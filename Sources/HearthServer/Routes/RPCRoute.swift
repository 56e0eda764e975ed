import HTTPTypes
import HearthService
import Hummingbird
import JSONRPC
import Logging

/// `POST /rpc`: JSON-RPC calls.
///
/// Whatever reached the parser is answered with 200, errors included: clients of JSON-RPC lose an error's code and message
/// when the status is another.
struct RPCRoute: Sendable {
    private let server: RPCServer<ServiceContext>
    private let context: ServiceContext
    private let notificationStatus: HearthServerConfiguration.NotificationStatus
    private let largeBodies: LargeBodies

    init(_ context: ServiceContext, configuration: HearthServerConfiguration, logger: Logger) {
        self.context = context
        self.notificationStatus = configuration.notificationStatus
        self.largeBodies = LargeBodies(limit: configuration.maximumLargeBodies)
        self.server = RPCServer(methods: HearthMethods.table, limits: context.server.limits.rpc) { failure in
            logger.error(
                "call failed",
                metadata: [
                    "rpc.method": "\(failure.method)",
                    "error": "\(failure.error)",
                    "error.id": "\(failure.errorID)",
                ]
            )
        }
    }

    func respond(to request: Request) async throws -> Response {
        let body = try await request.jsonBody(atMost: context.server.limits.maximumBodyBytes)
        let reply = await largeBodies.work(onBodyOf: body.count) { await server.handle(body, context: context) }
        return switch reply {
        case .response(let bytes): Response(json: bytes)
        case .nothing: Response(status: notificationStatus == .ok || request.namesJSONRPC ? .ok : .noContent)
        }
    }
}
