import Gzip

/// The body of a response that is made while it is sent, part by part, so that only a part of it is ever held.
struct BodyStream: Sendable {
    /// Sends a part, and returns when there is room for the next one.
    typealias Send = (_ part: [UInt8]) async throws -> Void

    private let body: @Sendable (_ send: Send) async throws -> Void

    init(_ body: @escaping @Sendable (_ send: Send) async throws -> Void) {
        self.body = body
    }

    /// Makes all parts in turn.
    ///
    /// - Throws: Whatever goes wrong on the way: the connection is then to be cut off, so that nobody takes a part for the whole.
    func write(_ send: Send) async throws {
        try await body(send)
    }

    /// The same in the format of gzip.
    var compressed: BodyStream {
        BodyStream { send in
            let gzip = GzipStream()
            do {
                try await write { part in
                    let bytes = gzip.compress(part)
                    if !bytes.isEmpty { try await send(bytes) }
                }
            } catch {
                // All that was made can be read then, and that it has no end.
                try? await send(gzip.flush())
                throw error
            }
            try await send(gzip.finish())
        }
    }
}
