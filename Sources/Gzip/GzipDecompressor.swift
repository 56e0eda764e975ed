internal import CZlib

/// A streaming decompressor for gzip data (RFC 1952), including several concatenated members.
///
/// ```swift
/// let decompressor = GzipDecompressor()
/// decompressor.append(input)
/// while let bytes = try decompressor.next() { process(bytes) }
/// try decompressor.finish()
/// ```
///
/// Output is produced in chunks of at most ``chunkBytes``, so highly compressed input (a decompression bomb) does not exhaust
/// memory. The caller limits the total size.
package final class GzipDecompressor {
    /// The error for input that is corrupted, truncated or not gzip data.
    package struct Malformed: Error, Sendable {
        /// Creates the error.
        package init() {}
    }

    /// Heap-allocated, because zlib stores the address and checks that it has not changed.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Appended bytes; those before ``offset`` have been decompressed.
    private var input: [UInt8] = []
    private var offset = 0
    /// True if the current gzip member is incomplete.
    private var isInsideMember = true

    /// The maximum size of one output chunk.
    package static let chunkBytes = 64 << 10

    /// Creates a decompressor.
    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // This fails only when memory is exhausted or the zlib version differs from the one compiled against.
        let status = czlib_inflate_init_gzip(stream)
        precondition(status == Z_OK, "inflateInit2 failed: \(status)")
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Returns whether the bytes start with the gzip magic number.
    package static func isGzip(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: [0x1f, 0x8b])
    }

    /// Appends input. Drain the output with ``next()`` before appending more.
    package func append(_ bytes: [UInt8]) {
        input.removeSubrange(..<offset)
        offset = 0
        input += bytes
    }

    /// Returns the next chunk of output, or `nil` if more input is needed.
    package func next() throws(Malformed) -> [UInt8]? {
        while offset < input.count {
            let output = try decompressChunk()
            if !output.isEmpty { return output }
        }
        return nil
    }

    /// Verifies that the input ended at the end of a member.
    package func finish() throws(Malformed) {
        if isInsideMember || offset < input.count { throw Malformed() }
    }

    private func decompressChunk() throws(Malformed) -> [UInt8] {
        if !isInsideMember {
            guard inflateReset(stream) == Z_OK else { throw Malformed() }
            isInsideMember = true
        }
        var status = Z_OK
        let availableBytes = input.count - offset
        let output = input.withUnsafeMutableBufferPointer { [offset] input in
            [UInt8](unsafeUninitializedCapacity: Self.chunkBytes) { buffer, count in
                stream.pointee.next_in = input.baseAddress.map { $0 + offset }
                stream.pointee.avail_in = UInt32(availableBytes)
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(buffer.count)
                status = inflate(stream, Z_NO_FLUSH)
                count = buffer.count - Int(stream.pointee.avail_out)
                stream.pointee.next_in = nil
            }
        }
        offset += availableBytes - Int(stream.pointee.avail_in)
        switch status {
        case Z_OK: break
        case Z_STREAM_END: isInsideMember = false
        default: throw Malformed()
        }
        return output
    }
}
