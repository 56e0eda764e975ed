import DocumentModel
import FirestoreProto
import HearthAPI
import HearthHTTP
import UTF8Text

/// `grpc.health.v1.Health` (https://github.com/grpc/grpc-proto/blob/master/grpc/health/v1/health.proto), for load balancers.
enum HealthService {
    static let name = "grpc.health.v1.Health"

    /// More than the name of any service. Callers need no key.
    private static let maximumMessageBytes = 4 << 10

    /// Creates the service.
    ///
    /// - Parameter services: The names of the services whose health it knows.
    static func make(for services: [String]) -> GRPCService {
        GRPCService(
            name: name,
            access: .open,
            methods: [
                "Check": GRPCCall.unary(nil, maximumMessageBytes: maximumMessageBytes) {
                    (request: ProtoHealthCheckRequest, context) throws(StatusError) in
                    guard
                        request.service.utf8.isEmpty || services.contains(where: { $0.utf8.elementsEqual(request.service.utf8) })
                    else {
                        throw StatusError(.notFound, "Unknown service. This server has \(services.joined(separator: ", ")).")
                    }
                    var response = ProtoHealthCheckResponse()
                    response.status = await context.unreadinessReason == nil ? .serving : .notServing
                    return response
                },
                "Watch": UnimplementedMethod(message: "Use Check."),
            ]
        )
    }
}
