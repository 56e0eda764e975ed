internal import CZlib

/// Uncompresses what is in the format of gzip (RFC 1952), also several in a row, as it comes.
///
/// ```swift
/// let stream = try GunzipStream()
/// stream.append(part)
/// while let bytes = try stream.next() { take(bytes) }
/// try stream.finish()
/// ```
///
/// It gives what it makes in parts of a bounded size, so a little that comes to a thousand times as much takes no memory. How much
/// of it is taken is up to the caller.
package final class GunzipStream {
    /// The bytes are damaged, end too early, or are something else.
    package struct Malformed: Error, Sendable {
        /// Makes the error.
        package init() {}
    }

    /// At an address of its own: zlib keeps it and looks whether it is still the same.
    private let stream: UnsafeMutablePointer<z_stream>
    /// What was appended and not been uncompressed yet.
    private var input: [UInt8] = []
    private var offset = 0
    /// Whether something has begun and is not at its end.
    private var isInside = true

    /// The most that is given at once.
    package static let partBytes = 64 << 10

    /// Begins a stream.
    package init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // It fails only for want of memory, or for a library of another version than it was built with.
        let status = czlib_begin_gunzip(stream)
        precondition(status == Z_OK, "zlib can't begin a stream: \(status)")
    }

    deinit {
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    /// Whether bytes begin as gzip does.
    package static func isGzip(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: [0x1f, 0x8b])
    }

    /// Takes the next bytes. Take out all that they come to with ``next()`` before giving more.
    package func append(_ bytes: [UInt8]) {
        input.removeSubrange(..<offset)
        offset = 0
        input += bytes
    }

    /// Some of what the bytes come to; nil when more of them are needed.
    package func next() throws(Malformed) -> [UInt8]? {
        while offset < input.count {
            let output = try uncompressed()
            if !output.isEmpty { return output }
        }
        return nil
    }

    /// Makes sure that there was an end.
    package func finish() throws(Malformed) {
        if isInside || offset < input.count { throw Malformed() }
    }

    private func uncompressed() throws(Malformed) -> [UInt8] {
        if !isInside {
            guard inflateReset(stream) == Z_OK else { throw Malformed() }
            isInside = true
        }
        var status = Z_OK
        let rest = input.count - offset
        let output = input.withUnsafeMutableBufferPointer { [offset] input in
            [UInt8](unsafeUninitializedCapacity: Self.partBytes) { buffer, count in
                stream.pointee.next_in = input.baseAddress.map { $0 + offset }
                stream.pointee.avail_in = UInt32(rest)
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(buffer.count)
                status = inflate(stream, Z_NO_FLUSH)
                count = buffer.count - Int(stream.pointee.avail_out)
                stream.pointee.next_in = nil
            }
        }
        offset += rest - Int(stream.pointee.avail_in)
        switch status {
        case Z_OK: break
        case Z_STREAM_END: isInside = false
        default: throw Malformed()
        }
        return output
    }
}
