internal import CZlib

/// Compresses bytes as they come, in the format of gzip (RFC 1952).
///
/// ```swift
/// let stream = GzipStream()
/// try await write(stream.compress(part))
/// try await write(stream.finish())
/// ```
///
/// It holds about 256 KiB, however much goes through it. Nothing of the compressed bytes tells a secret of its own; but where a
/// secret and text that others choose are compressed together, the length tells how alike they are: keep them apart, or mask the
/// secret anew each time.
package final class GzipStream {
    /// At an address of its own: zlib keeps it and looks whether it is still the same.
    private let stream: UnsafeMutablePointer<z_stream>
    private var isFinished = false

    /// How hard it tries: 1 is fastest, 9 smallest.
    package enum Effort: Int32, Sendable {
        /// For what is made anew for each request.
        case fast = 4
        /// For what is kept.
        case usual = 6
    }

    /// Begins a stream.
    package init(effort: Effort = .usual) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // It fails only for want of memory, or for a library of another version than it was built with.
        let status = czlib_begin_gzip(stream, effort.rawValue)
        precondition(status == Z_OK, "zlib can't begin a stream: \(status)")
    }

    deinit {
        deflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// What the bytes come to as far as that is known now; the rest comes later.
    package func compress(_ bytes: [UInt8]) -> [UInt8] {
        run(bytes, flush: Z_NO_FLUSH)
    }

    /// The rest of what was compressed so far, so that it can be read though more may come.
    package func flush() -> [UInt8] {
        isFinished ? [] : run([], flush: Z_SYNC_FLUSH)
    }

    /// The rest, with the trailer. The stream is at its end then.
    package func finish() -> [UInt8] {
        guard !isFinished else { return [] }
        isFinished = true
        return run([], flush: Z_FINISH)
    }

    /// All of some bytes at once.
    package static func compress(_ bytes: [UInt8], effort: Effort = .fast) -> [UInt8] {
        let stream = GzipStream(effort: effort)
        return stream.compress(bytes) + stream.finish()
    }

    private func run(_ bytes: [UInt8], flush: Int32) -> [UInt8] {
        var output: [UInt8] = []
        bytes.withUnsafeBufferPointer { input in
            // zlib only reads there; that its input isn't `const` is an option of its header.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            repeat {
                let part = [UInt8](unsafeUninitializedCapacity: Self.partBytes) { buffer, count in
                    stream.pointee.next_out = buffer.baseAddress
                    stream.pointee.avail_out = UInt32(buffer.count)
                    deflate(stream, flush)
                    count = buffer.count - Int(stream.pointee.avail_out)
                }
                output += part
            } while stream.pointee.avail_out == 0
            stream.pointee.next_in = nil
        }
        return output
    }

    private static let partBytes = 32 << 10
}
