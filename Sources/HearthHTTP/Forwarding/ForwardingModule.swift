import Concurrency
package import Cryptography
package import DocumentModel
import HTTPTypes
import HummingbirdCore
import NIOCore
import Synchronization

/// `POST /engine/commits`: commits that another server of the same engine forwards, since this one has the lease of their database.
///
/// No key and no session gives access, only the secret that the servers share.
package struct ForwardingModule: RouteModule {
    /// The path of the route.
    package static let path = "/engine/commits"
    /// The name of the field with the signature of a request or a response.
    package static let signatureField = "Hearth-Signature"
    /// The maximum size of a body.
    package static let maximumBytes = 8 << 20
    /// The maximum number of requests at a time.
    private static let maximumRequestCount = 1_024

    private let signature: PeerSignature
    private let overloadAnswer: [UInt8]
    private let commit: @Sendable ([UInt8]) async -> Result<[UInt8], StatusError>
    private let requestCount = RequestCount()

    /// The number of requests in progress.
    private final class RequestCount: Sendable {
        let value = Atomic(0)
    }

    /// Creates the module.
    ///
    /// - Parameters:
    ///   - secret: The secret of the servers.
    ///   - overloadAnswer: The answer to a batch for which there is no memory, by which its server makes the commits.
    ///   - commit: Makes the commits of a batch, and returns the answer.
    package init(
        secret: SymmetricKey,
        overloadAnswer: [UInt8],
        commit: @escaping @Sendable ([UInt8]) async -> Result<[UInt8], StatusError>
    ) {
        signature = PeerSignature(secret: secret)
        self.overloadAnswer = overloadAnswer
        self.commit = commit
    }

    package func routes(using server: ServerResources) -> [Route] {
        var policy = RoutePolicy()
        policy.access = .open
        policy.sessionCookies = .ignored
        policy.origins = RoutePolicy.OriginRules(crossOrigin: nil, allowsLinks: false, forms: .none)
        policy.body.maximumBytes = Self.maximumBytes
        // The memory is reserved here, since a batch for which there is none has an answer.
        policy.body.isStreamed = true
        let (budget, executor) = (server.bodyBudget, server.bodyExecutor)
        return [
            Route(Self.path, policy, [.post: { try await respond(to: $0, in: $1, budget, executor) }])
        ]
    }

    /// Makes the commits of a batch.
    ///
    /// - Throws: ``HTTPFailure``: 403 before the body is read, without the secret, and for a body that was changed on its way; 400 for one that
    ///   is no batch; 413 for one that is too large.
    private func respond(
        to request: Request,
        in context: HearthRequestContext,
        _ budget: MemoryBudget,
        _ executor: LargeBodyExecutor
    ) async throws -> Response {
        guard let name = HTTPField.Name(Self.signatureField), let field = request.headers[name],
            let digest = signature.digest(inRequestField: field)
        else { throw Self.forbidden }
        let count = requestCount.value.add(1, ordering: .relaxed).newValue
        let reservation = MemoryBudget.Reservation(of: budget)
        defer {
            requestCount.value.subtract(1, ordering: .relaxed)
            reservation.shrink(to: 0)
        }
        guard let body = try await body(of: request, count <= Self.maximumRequestCount ? reservation : nil) else {
            return response(overloadAnswer, name, digest)
        }
        guard signature.matches(body, digest) else { throw Self.forbidden }
        let answer = await executor.run(bodyBytes: body.count, on: context.executor) { _ in await commit(body) }
        return response(try answer.mapError { HTTPFailure(.badRequest, $0.code, $0.message) }.get(), name, digest)
    }

    private func response(_ answer: [UInt8], _ signatureField: HTTPField.Name, _ digest: [UInt8]) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/json",
                signatureField: signature.responseField(for: answer, toRequest: digest),
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer))
        )
    }

    /// Reads a body to its end; its sender reads the answer after it.
    ///
    /// - Parameter reservation: The memory for it; `nil` to keep nothing of it.
    /// - Returns: `nil` if there is no memory for it.
    private func body(of request: Request, _ reservation: MemoryBudget.Reservation?) async throws -> [UInt8]? {
        let tooLarge = HTTPFailure(
            .contentTooLarge,
            .invalidArgument,
            "The request body exceeds \(Self.maximumBytes) bytes."
        )
        guard request.headers[.contentLength].map({ Int($0) ?? .max }) ?? 0 <= Self.maximumBytes else { throw tooLarge }
        var (bytes, byteCount): ([UInt8]?, Int) = (reservation.map { _ in [] }, 0)
        for try await part in request.body {
            byteCount += part.readableBytes
            guard byteCount <= Self.maximumBytes else { throw tooLarge }
            if bytes != nil, reservation?.grow(by: part.readableBytes) == true {
                part.withUnsafeReadableBytes { bytes?.append(contentsOf: $0) }
            } else {
                bytes = nil
                reservation?.shrink(to: 0)
            }
        }
        return bytes
    }

    private static let forbidden = HTTPFailure(
        .forbidden,
        .permissionDenied,
        "This path is for servers that share the database engine."
    )
}
