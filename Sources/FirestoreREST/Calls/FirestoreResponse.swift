package import DocumentModel
import StrictJSON

/// The response to a call.
package struct FirestoreResponse: Sendable {
    package let content: Content
    /// The number of damaged documents omitted from the response, which the protocol cannot report.
    package let damagedCount: Int

    /// The messages of a response.
    package enum Content: Sendable {
        /// A single message, as JSON.
        case message([UInt8])
        /// A server-streaming response.
        case stream(FirestoreMessageStream)
    }

    init(_ content: Content, damagedCount: Int = 0) {
        self.content = content
        self.damagedCount = damagedCount
    }

    /// Returns a response that is one JSON object, with the members that `writeMembers` writes.
    static func object(
        damagedCount: Int = 0,
        _ writeMembers: (inout JSONWriter) throws(StatusError) -> Void
    ) throws(StatusError) -> FirestoreResponse {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        try writeMembers(&writer)
        writer.endObject()
        return FirestoreResponse(.message(writer.finish()), damagedCount: damagedCount)
    }

    /// The empty message.
    static let empty = FirestoreResponse(.message(Array("{}".utf8)))
}

/// The messages of a server-streaming response, encoded on demand.
package struct FirestoreMessageStream: Sendable {
    package let count: Int
    /// The approximate memory that the stream retains.
    package let estimatedBytes: Int
    private let writeMessage: @Sendable (_ index: Int, _ writer: inout JSONWriter) throws(StatusError) -> Void

    /// Creates a stream.
    ///
    /// - Parameter writeMessage: Writes the message at an index.
    init(
        count: Int,
        estimatedBytes: Int,
        _ writeMessage: @escaping @Sendable (_ index: Int, _ writer: inout JSONWriter) throws(StatusError) -> Void
    ) {
        self.count = count
        self.estimatedBytes = estimatedBytes
        self.writeMessage = writeMessage
    }

    /// Returns the message at an index, as JSON.
    package func message(_ index: Int) throws(StatusError) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512 + 2 * estimatedBytes / max(count, 1))
        try writeMessage(index, &writer)
        return writer.finish()
    }
}
