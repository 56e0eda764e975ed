package import HummingbirdCore
package import NIOCore

extension ResponseBodyWriter {
    /// Writes bytes with backpressure: for a client that does not read, the connection buffers only a few chunks.
    ///
    /// - Parameter eventLoop: The event loop of the connection. On another thread, more could be written before the channel
    ///   reports that it is not writable.
    package mutating func write<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes, on eventLoop: any EventLoop) async throws {
        guard bytes.count > chunkBytes else { return try await write(ByteBuffer(bytes: bytes)) }
        try await withTaskExecutorPreference(EventLoopExecutor(eventLoop)) {
            var remaining = bytes[...]
            while !remaining.isEmpty {
                // Copied, so that a buffered chunk does not retain all of the bytes.
                try await write(ByteBuffer(bytes: remaining.prefix(chunkBytes)))
                remaining = remaining.dropFirst(chunkBytes)
                // Let other connections on this event loop make progress.
                await Task.yield()
            }
        }
    }
}

/// The number of bytes written to a connection at a time.
package let chunkBytes = 32 << 10
