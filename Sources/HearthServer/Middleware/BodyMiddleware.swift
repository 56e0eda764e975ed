import DocumentModel
import HTTPTypes
import Hummingbird
import NIOCore

/// Lets through only bodies as they are, and all of them together no more than a budget of memory, whoever reads them.
struct BodyMiddleware: RouterMiddleware {
    let budget: BodyBudget

    /// How much is held at most of a form with a file: its fields, and the part of the file that goes to disk.
    private static let heldFormBytes = 256 << 10

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        try request.checkTransferCoding()
        // Once there is a response nothing holds the body any more, however long the response takes to send.
        let share = BodyBudget.Share(of: budget)
        defer { share.giveBack() }
        var request = request
        // The files of forms go to disk as they come.
        let heldBytes = request.isOfType("multipart/form-data") ? Self.heldFormBytes : .max
        request.body = RequestBody(asyncSequence: CountedBody(body: request.body, share: share, heldBytes: heldBytes))
        return try await next(request, context)
    }
}

extension Request {
    /// Refuses a body that was encoded in a way that would have to be undone (RFC 9112, 6.1), such as `gzip, chunked`: the
    /// parser takes it for one that is just chunked.
    fileprivate func checkTransferCoding() throws(HTTPFailure) {
        let codings = headers[values: .transferEncoding]
        guard let coding = codings.first else { return }
        guard codings.count == 1, FieldValue(coding.utf8).isPlain("chunked") else {
            throw HTTPFailure(
                .notImplemented,
                .unimplemented,
                "The only Transfer-Encoding that this server knows is chunked. Send the body as it is.",
                headers: [.connection: "close"]
            )
        }
    }
}

/// A body whose bytes are counted as they arrive.
private struct CountedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let share: BodyBudget.Share
    /// How many bytes of it are held at most: whatever comes beyond them takes the place of what came before.
    let heldBytes: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parts: RequestBody.AsyncIterator
        fileprivate let share: BodyBudget.Share
        /// How many bytes more will be held.
        fileprivate var rest: Int

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await parts.next() else { return nil }
            let count = Swift.min(part.readableBytes, rest)
            rest -= count
            guard share.take(count) else {
                throw HTTPFailure(
                    .serviceUnavailable,
                    .resourceExhausted,
                    "The bodies that other requests are sending take all the memory there is for them. Try again in a moment.",
                    headers: [.retryAfter: "1"]
                )
            }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: body.makeAsyncIterator(), share: share, rest: heldBytes)
    }
}
