package import Concurrency
internal import Synchronization

/// The body of a response: one response object or an array of them, as compact JSON.
///
/// It is consumed in chunks, so that sent data no longer occupies memory. Its share of the ``MemoryBudget`` is released chunk
/// by chunk, and the remainder when the body is deallocated.
package final class RPCResponseBody: Sendable {
    /// The unsent chunks in reverse order.
    private let remainingChunks: Mutex<[[UInt8]]>
    private let reservation: MemoryBudget.Reservation

    /// The size up to which a response is small: it is sent in one piece, and a chunk of a larger one is not extended beyond it.
    package static let smallResponseBytes = 32 << 10
    /// The maximum expected size of a response that is encoded on the executor of its request, such as an event loop.
    package static let maximumInlineBytes = 64 << 10

    /// The total length in bytes.
    package let byteCount: Int

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - byteCount: The total length of the chunks.
    ///   - reservation: A reservation of at least that size.
    package init(_ chunks: [[UInt8]], byteCount: Int, reservation: MemoryBudget.Reservation) {
        self.byteCount = byteCount
        remainingChunks = Mutex(chunks.reversed())
        self.reservation = reservation
        reservation.shrink(to: byteCount)
    }

    /// Returns the next chunk, or `nil` at the end. All chunks before it must have been sent.
    package func next() -> [UInt8]? {
        let (chunk, unsentBytes) = remainingChunks.withLock { chunks in
            let unsentBytes = chunks.reduce(0) { $0 + $1.count }
            return (chunks.popLast(), unsentBytes)
        }
        reservation.shrink(to: unsentBytes)
        return chunk
    }

    /// Returns the whole body and releases its reservation.
    package func joined() -> [UInt8] {
        let chunks = remainingChunks.withLock { chunks in
            defer { chunks = [] }
            return chunks
        }
        reservation.shrink(to: 0)
        return chunks.count == 1 ? chunks[0] : Array(chunks.reversed().joined())
    }
}
