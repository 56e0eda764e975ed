package import DocumentModel
import StrictJSON

/// What a call is answered with.
package struct FirestoreAnswer: Sendable {
    package let content: Content
    /// How many documents could have been in the answer and can't be read; the protocol has no place for them.
    package let damagedCount: Int

    /// The messages of an answer.
    package enum Content: Sendable {
        /// One message, as JSON.
        case message([UInt8])
        /// Messages to be sent one after the other.
        case stream(FirestoreStream)
    }

    init(_ content: Content, damagedCount: Int = 0) {
        self.content = content
        self.damagedCount = damagedCount
    }

    /// The answer of one message, an object, of which `writeMembers` writes the members.
    static func object(
        damagedCount: Int = 0,
        _ writeMembers: (inout JSONWriter) throws(StatusError) -> Void
    ) throws(StatusError) -> FirestoreAnswer {
        var writer = JSONWriter(reservingCapacity: 512)
        writer.beginObject()
        try writeMembers(&writer)
        writer.endObject()
        return FirestoreAnswer(.message(writer.finish()), damagedCount: damagedCount)
    }

    /// The empty message.
    static let empty = FirestoreAnswer(.message(Array("{}".utf8)))
}

/// Messages in order, each of which is made only when it is its turn.
package struct FirestoreStream: Sendable {
    package let count: Int
    /// About how many bytes are held until all of them have been made.
    package let heldBytes: Int
    private let writeMessage: @Sendable (_ index: Int, _ writer: inout JSONWriter) throws(StatusError) -> Void

    /// - Parameter writeMessage: Writes the message of an index.
    init(
        count: Int,
        heldBytes: Int,
        _ writeMessage: @escaping @Sendable (_ index: Int, _ writer: inout JSONWriter) throws(StatusError) -> Void
    ) {
        self.count = count
        self.heldBytes = heldBytes
        self.writeMessage = writeMessage
    }

    /// The message of an index, as JSON.
    package func message(_ index: Int) throws(StatusError) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: 512 + 2 * heldBytes / max(count, 1))
        try writeMessage(index, &writer)
        return writer.finish()
    }
}
