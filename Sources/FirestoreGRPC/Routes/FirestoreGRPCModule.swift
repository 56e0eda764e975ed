import Concurrency
import DocumentModel
import HTTPTypes
package import HearthAPI
package import HearthHTTP
import HummingbirdCore
import UTF8Text

/// Firestore's API over gRPC, and its streams over WebChannel, as routes of Hearth's server.
///
/// A call is a POST to `/SERVICE/METHOD` with the content type `application/grpc`. Its messages are in the bodies of the request and
/// the response, and the trailers have its status (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
package struct FirestoreGRPCModule: RouteModule {
    private let context: ServiceContext

    package init(_ context: ServiceContext) {
        self.context = context
    }

    package func routes(using server: ServerResources) -> [Route] {
        let listen = FirestoreService.listen(sharing: EncodedDocumentCache())
        let names = [FirestoreService.name, HealthService.name] + ReflectionService.names
        let services =
            [FirestoreService.service(listen), HealthService.make(for: names)]
            + ReflectionService.names.map { ReflectionService.make($0, listing: names) }
        var server = GRPCServer(context, server)
        server.metrics = GRPCMetrics(context.server.metrics.registry, services)
        return services.flatMap { routes(of: $0, on: server) } + [
            WebChannelRoute("Listen", listen, on: server).route,
            WebChannelRoute("Write", FirestoreService.write, on: server).route,
        ]
    }

    private func routes(of service: GRPCService, on server: GRPCServer) -> [Route] {
        let respond: Route.Handler = { request, requestContext in
            guard request.isGRPC else { throw HTTPFailure.notGRPC }
            return try await service.respond(to: request, in: requestContext, on: server)
        }
        let policy = policy(of: service)
        var streamPolicy = policy
        streamPolicy.isStream = true
        streamPolicy.runsOnEventLoop = false
        streamPolicy.body.isStreamed = true
        let streams = service.methods.filter(\.value.isStream).map { name, _ in
            Route("/\(service.name)/\(name.string)", streamPolicy, [.post: respond])
        }
        return streams + [Route(below: "/\(service.name)/", policy, [.post: respond])]
    }

    private func policy(of service: GRPCService) -> RoutePolicy {
        var policy = RoutePolicy.api
        policy.access = service.access
        policy.countsAsCall = service.access != .open
        policy.isOpenToEndUsers = service.isOpenToEndUsers
        // Firestore's clients have no sessions.
        policy.sessionCookies = .ignored
        policy.body.maximumBytes = context.server.limits.maximumBodyBytes
        policy.errorFormat = ErrorFormat(makeResponse: { failure, request in
            request.isGRPC ? GRPCStatus(failure).response : ErrorFormat.json.response(for: failure, to: request)
        })
        return policy
    }
}

extension HTTPFailure {
    fileprivate static var notGRPC: HTTPFailure {
        HTTPFailure(.unsupportedMediaType, .invalidArgument, "Expected the header Content-Type: application/grpc.")
    }
}

/// A gRPC service: its methods by name.
struct GRPCService: Sendable {
    /// The full name, `package.Service`.
    let name: String
    /// The callers that may use it.
    var access = RoutePolicy.Access.authenticated
    /// True if end users may use it, where rules decide.
    var isOpenToEndUsers = false
    let methods: [UTF8Key: any GRPCMethod]

    /// Responds to a call of a method. An error is a status in the head of the response, except for those that the route maps.
    func respond(
        to request: Request,
        in requestContext: HearthRequestContext,
        on server: GRPCServer
    ) async throws -> Response {
        let name = UTF8Key(String(Substring(request.uri.path.utf8.dropFirst(self.name.utf8.count + 2))))
        var time: Stopwatch?
        do {
            let isStream = methods[name]?.isStream == true
            if server.isTraced, !isStream { server.metrics?.begin(name, of: self.name) }
            do {
                guard let method = methods[name] else {
                    throw GRPCStatus(.unimplemented, "The service \(self.name) has no method \(Excerpt(name.string)).")
                }
                let response = try await method.respond(to: request, in: requestContext, on: server, time: &time)
                if !isStream { server.metrics?.record(name, .ok, time: time) }
                return response
            } catch {
                server.metrics?.record(name, error, in: requestContext, time: time)
                throw error
            }
        } catch let status as GRPCStatus {
            return status.response
        } catch let error as StatusError where error.code != .internal {
            return GRPCStatus(error).response
        }
    }
}
