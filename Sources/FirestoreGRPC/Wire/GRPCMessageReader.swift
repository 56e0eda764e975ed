import DocumentModel
import Gzip
import NIOCore

/// Splits the body of a gRPC call into its messages: each is a flag (1: compressed), its length in four bytes, and its bytes.
///
/// The parts of a body may begin and end anywhere. The length of a message is checked before the message is buffered.
struct GRPCMessageReader {
    private let maximumBytes: Int
    private let encoding: GRPCEncoding
    /// The received bytes that are not part of a returned message.
    private var buffer = ByteBuffer()

    /// The length of the flag and the length field.
    static let prefixBytes = 5

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - maximumBytes: The maximum length of a message, before and after decompression.
    ///   - encoding: The encoding of messages with the compressed flag.
    init(maximumBytes: Int, encoding: GRPCEncoding = .identity) {
        self.maximumBytes = maximumBytes
        self.encoding = encoding
    }

    /// Appends a part of the body. All complete messages must have been read with ``next()`` before.
    mutating func append(_ part: ByteBuffer) {
        if buffer.readableBytes == 0 {
            buffer = part
        } else {
            var part = part
            buffer.discardReadBytes()
            buffer.writeBuffer(&part)
        }
    }

    /// Returns the next message, or `nil` if more of the body is needed.
    ///
    /// - Throws: RESOURCE_EXHAUSTED for a message that is too large, INTERNAL for an unexpected flag.
    mutating func next() throws(GRPCStatus) -> GRPCMessage? {
        guard let flag = buffer.getInteger(at: buffer.readerIndex, as: UInt8.self),
            let length = buffer.getInteger(at: buffer.readerIndex + 1, as: UInt32.self)
        else { return nil }
        guard flag <= 1 else { throw GRPCStatus(.internal, "Expected the compressed flag to be 0 or 1, found \(flag).") }
        guard flag == 0 || encoding == .gzip else {
            throw GRPCStatus(.internal, "A message has the compressed flag, but the call has no grpc-encoding.")
        }
        guard length <= maximumBytes else { throw .tooLarge("\(length)", maximumBytes: maximumBytes) }
        let count = Self.prefixBytes + Int(length)
        guard let bytes = buffer.getBytes(at: buffer.readerIndex + Self.prefixBytes, length: Int(length)) else { return nil }
        buffer.moveReaderIndex(forwardBy: count)
        return GRPCMessage(bytes: bytes, isCompressed: flag == 1, maximumBytes: maximumBytes)
    }

    /// The number of bytes that are not part of a returned message.
    var bufferedBytes: Int { buffer.readableBytes }

    /// Verifies that the body ended at the end of a message.
    func finish() throws(GRPCStatus) {
        guard buffer.readableBytes == 0 else {
            throw GRPCStatus(.invalidArgument, "The request ended inside a message.")
        }
    }
}

/// A message as it was sent.
struct GRPCMessage: Sendable {
    fileprivate let bytes: [UInt8]
    fileprivate let isCompressed: Bool
    /// The maximum length of the message after decompression.
    fileprivate let maximumBytes: Int

    /// The largest factor by which data is compressed (RFC 1951: 258 bytes in 2 bits).
    private static let maximumCompression = 1_032

    /// The length of the message, or what it is at most after decompression.
    var maximumLength: Int {
        isCompressed ? min(bytes.count * Self.maximumCompression, maximumBytes) : bytes.count
    }

    /// Decompresses the message.
    ///
    /// - Parameter reserve: Called with the length before it grows; returns false if there is no memory for it.
    /// - Throws: RESOURCE_EXHAUSTED for a message that is too large, INVALID_ARGUMENT for invalid compressed data.
    func decompressed(reserving reserve: (_ byteCount: Int) -> Bool = { _ in true }) throws(GRPCStatus) -> [UInt8] {
        guard isCompressed else { return bytes }
        let decompressor = GzipDecompressor()
        decompressor.append(bytes)
        var message: [UInt8] = []
        do {
            while let chunk = try decompressor.next() {
                guard reserve(message.count + chunk.count) else { throw GRPCStatus.requestMemoryExhausted }
                message += chunk
                guard message.count <= maximumBytes else {
                    throw GRPCStatus.tooLarge("more than \(maximumBytes)", maximumBytes: maximumBytes)
                }
            }
            try decompressor.finish()
        } catch let status as GRPCStatus {
            throw status
        } catch {
            throw GRPCStatus(.invalidArgument, "A message is not valid gzip data.")
        }
        return message
    }
}

extension GRPCStatus {
    static let requestMemoryExhausted = GRPCStatus(
        .resourceExhausted,
        "The memory limit for requests is exhausted by others. Retry shortly."
    )

    fileprivate static func tooLarge(_ count: String, maximumBytes: Int) -> GRPCStatus {
        GRPCStatus(.resourceExhausted, "A message has \(count) bytes; the maximum is \(maximumBytes).")
    }
}

/// The encoding of compressed messages, in the header `grpc-encoding`.
enum GRPCEncoding: String, CaseIterable {
    case identity
    case gzip
}

extension ByteBuffer {
    /// Appends an uncompressed message with its prefix.
    mutating func writeGRPCMessage(_ message: [UInt8]) {
        // A message is limited to far less than 4 GiB.
        writeInteger(0, as: UInt8.self)
        writeInteger(UInt32(message.count))
        writeBytes(message)
    }
}
