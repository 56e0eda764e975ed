internal import CZlib

/// A streaming compressor that writes gzip data (RFC 1952).
///
/// ```swift
/// let compressor = GzipCompressor()
/// try await write(compressor.compress(input))
/// try await write(compressor.finish())
/// ```
///
/// Memory use is about 256 KiB, whatever the length of the stream. Do not compress a secret together with text that an attacker
/// chooses: the compressed length reveals how similar they are (BREACH). Keep them apart, or mask the secret for each response.
package final class GzipCompressor {
    /// Heap-allocated, because zlib stores the address and checks that it has not changed.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isFinished = false

    /// A zlib compression level: 1 is fastest, 9 smallest.
    package enum Level: Int32, Sendable {
        /// For data that is compressed once per request.
        case fast = 4
        /// For data that is stored.
        case standard = 6
    }

    /// Creates a compressor.
    package init(level: Level = .standard) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // This fails only when memory is exhausted or the zlib version differs from the one compiled against.
        let status = czlib_deflate_init_gzip(stream, level.rawValue)
        precondition(status == Z_OK, "deflateInit2 failed: \(status)")
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Appends input and returns the output that is available; later calls return the rest.
    package func compress(_ bytes: [UInt8]) -> [UInt8] {
        run(bytes, flush: Z_NO_FLUSH)
    }

    /// Flushes pending output, so that a reader can decompress everything appended so far.
    package func flush() -> [UInt8] {
        isFinished ? [] : run([], flush: Z_SYNC_FLUSH)
    }

    /// Ends the stream and returns the remaining output and the trailer.
    package func finish() -> [UInt8] {
        guard !isFinished else { return [] }
        isFinished = true
        return run([], flush: Z_FINISH)
    }

    /// Compresses bytes in one call.
    package static func compress(_ bytes: [UInt8], level: Level = .fast) -> [UInt8] {
        let compressor = GzipCompressor(level: level)
        return compressor.compress(bytes) + compressor.finish()
    }

    private func run(_ bytes: [UInt8], flush: Int32) -> [UInt8] {
        var output: [UInt8] = []
        bytes.withUnsafeBufferPointer { input in
            // zlib only reads its input; `next_in` is declared without `const` unless ZLIB_CONST is defined.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                let chunk = [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { buffer, count in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    deflate(stream, flush)
                    count = buffer.count - Int(stream.pointee.avail_out)
                }
                output += chunk
            } while stream.pointee.avail_out == 0
            stream.pointee.next_in = nil
        }
        return output
    }

    private static let chunkBytes = 32 << 10
}
