import Concurrency
import DocumentModel
import HTTPTypes
import Hummingbird
import NIOCore

/// Enforces the memory limit for request bodies, and rejects transfer codings other than chunked.
struct BodyMiddleware: RouterMiddleware {
    let budget: MemoryBudget

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        try request.checkTransferCoding()
        // Once there is a response, nothing retains the body, however long sending the response takes.
        let reservation = MemoryBudget.Reservation(of: budget)
        defer { reservation.shrink(to: 0) }
        var request = request
        // The files of a form are written to disk as they arrive.
        let fileBufferBytes = context.route.policy.body.fileBufferBytes
        let bufferBytes = fileBufferBytes.flatMap { request.hasMediaType("multipart/form-data") ? $0 : nil } ?? .max
        request.body = RequestBody(
            asyncSequence: MeteredBody(body: request.body, reservation: reservation, bufferBytes: bufferBytes)
        )
        return try await next(request, context)
    }
}

extension Request {
    /// Rejects transfer codings that would have to be decoded (RFC 9112, 6.1), such as `gzip, chunked`, which the parser treats as
    /// just chunked.
    fileprivate func checkTransferCoding() throws(HTTPFailure) {
        let codings = headers[values: .transferEncoding]
        guard let coding = codings.first else { return }
        guard codings.count == 1, HeaderListElement(coding.utf8).hasOnlyValue("chunked") else {
            throw HTTPFailure(
                .notImplemented,
                .unimplemented,
                "Unsupported Transfer-Encoding; only chunked is supported.",
                headers: [.connection: "close"]
            )
        }
    }
}

/// A body that reserves memory for its bytes as they arrive.
private struct MeteredBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let reservation: MemoryBudget.Reservation
    /// The maximum number of bytes held in memory at a time; further bytes replace earlier ones.
    let bufferBytes: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parts: RequestBody.AsyncIterator
        fileprivate let reservation: MemoryBudget.Reservation
        /// The number of bytes still to be reserved.
        fileprivate var unreservedBytes: Int

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await parts.next() else { return nil }
            let count = Swift.min(part.readableBytes, unreservedBytes)
            unreservedBytes -= count
            guard reservation.grow(by: count) else {
                throw HTTPFailure(
                    .serviceUnavailable,
                    .resourceExhausted,
                    "The memory limit for request bodies is exhausted by other requests. Retry shortly.",
                    headers: [.retryAfter: "1"]
                )
            }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: body.makeAsyncIterator(), reservation: reservation, unreservedBytes: bufferBytes)
    }
}
