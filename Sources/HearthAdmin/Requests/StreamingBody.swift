import Gzip

/// A response body that is produced in chunks while it is sent, so that memory holds one chunk at a time.
struct StreamingBody: Sendable {
    /// Sends a chunk and returns when the connection accepts the next one.
    typealias Send = (_ chunk: [UInt8]) async throws -> Void

    private let body: @Sendable (_ send: Send) async throws -> Void

    init(_ body: @escaping @Sendable (_ send: Send) async throws -> Void) {
        self.body = body
    }

    /// Produces and sends all chunks.
    ///
    /// - Throws: Any error from producing or sending a chunk. The caller must then abort the connection, so that the client
    ///   detects the truncated body.
    func write(_ send: Send) async throws {
        try await body(send)
    }

    /// The body compressed with gzip.
    var compressed: StreamingBody {
        StreamingBody { send in
            let gzip = GzipCompressor()
            do {
                try await write { chunk in
                    let bytes = gzip.compress(chunk)
                    if !bytes.isEmpty { try await send(bytes) }
                }
            } catch {
                // The client can decompress everything sent so far, and detects the missing end.
                try? await send(gzip.flush())
                throw error
            }
            try await send(gzip.finish())
        }
    }
}
