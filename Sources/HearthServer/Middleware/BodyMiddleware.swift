import DocumentModel
import HTTPTypes
import Hummingbird
import NIOCore

/// Lets the bodies of all requests together take no more than a budget of memory, whoever reads them.
struct BodyMiddleware: RouterMiddleware {
    let budget: BodyBudget

    func handle(
        _ request: Request,
        context: HearthRequestContext,
        next: (Request, HearthRequestContext) async throws -> Response
    ) async throws -> Response {
        // Once there is a response nothing holds the body any more, however long the response takes to send.
        let share = BodyBudget.Share(of: budget)
        defer { share.giveBack() }
        var request = request
        request.body = RequestBody(asyncSequence: CountedBody(body: request.body, share: share))
        return try await next(request, context)
    }
}

/// A body whose bytes are counted as they arrive.
private struct CountedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let body: RequestBody
    let share: BodyBudget.Share

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var parts: RequestBody.AsyncIterator
        fileprivate let share: BodyBudget.Share

        mutating func next() async throws -> ByteBuffer? {
            guard let part = try await parts.next() else { return nil }
            guard share.take(part.readableBytes) else {
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
        AsyncIterator(parts: body.makeAsyncIterator(), share: share)
    }
}
