package import DocumentModel
internal import StorageIO

/// A parser of the messages of a stream, which come in pieces of any size.
///
/// Nothing of a stream counts after the first byte that does not fit.
package struct ReplicationParser {
    private var bytes: [UInt8] = []
    /// The offset of the next message.
    private var offset = 0
    private var failure: StatusError?

    package init() {}

    /// True if all that was received has been returned.
    package var isEmpty: Bool { offset == bytes.count }

    /// Adds bytes that were received.
    package mutating func append(_ received: [UInt8]) {
        guard failure == nil else { return }
        if offset > 0 {
            bytes.removeFirst(offset)
            offset = 0
        }
        bytes += received
    }

    /// Returns the next message; `nil` if it has not been received completely.
    ///
    /// - Throws: `.dataLoss` if what was received is no message, or was altered on its way; again at each further call.
    package mutating func next() throws(StatusError) -> ReplicationMessage? {
        if let failure { throw failure }
        var reader = ByteReader(bytes[offset...])
        guard let length = reader.integer(UInt32.self).map(Int.init), let checksum = reader.integer(UInt32.self) else {
            return nil
        }
        guard length > 0, length <= ReplicationMessage.maximumBytes else {
            throw fail("a message of \(length) bytes")
        }
        guard let body = reader.bytes(length) else { return nil }
        guard body.withUnsafeBytes(CRC32C.checksum) == checksum else { throw fail("a message whose checksum is wrong") }
        guard let message = ReplicationMessage(body: body) else { throw fail("a message of an unknown form") }
        offset += ReplicationMessage.prefixBytes + length
        return message
    }

    private mutating func fail(_ found: String) -> StatusError {
        let error = StatusError(.dataLoss, "The primary sent \(found). Nothing of it was applied.")
        failure = error
        (bytes, offset) = ([], 0)
        return error
    }
}
