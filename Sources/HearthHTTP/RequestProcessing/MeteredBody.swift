import Concurrency
import DocumentModel
import HTTPTypes
import HummingbirdCore
import NIOCore

/// A body that reserves memory for its bytes as they arrive.
struct MeteredBody: AsyncSequence, Sendable {
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
            guard reservation.grow(by: count) else { throw HTTPFailure.bodyMemoryExhausted }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(parts: body.makeAsyncIterator(), reservation: reservation, unreservedBytes: bufferBytes)
    }
}

extension HTTPFailure {
    /// The failure for a body that other requests leave no memory for.
    static var bodyMemoryExhausted: HTTPFailure {
        HTTPFailure(
            .serviceUnavailable,
            .resourceExhausted,
            "The memory limit for request bodies is exhausted by other requests. Retry shortly.",
            headers: [.retryAfter: "1"]
        )
    }
}
