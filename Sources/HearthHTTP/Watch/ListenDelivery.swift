package import DocumentModel
package import HearthAPI
import NIOCore
package import UTF8Text

/// The writer of the messages of a ``ListenSession`` on its event loop, in the encoding of its transport.
package protocol LiveMessageWriter {
    /// Encoded messages.
    associatedtype Content: Sendable

    /// Text that identifies the encoding. Writers with the same one encode messages alike.
    var encoding: UTF8Key { get }

    /// Encodes messages.
    func encode(_ messages: [ListenMessage]) throws(StatusError) -> Content

    /// Writes and sends content if the client has read enough. Called on the event loop, when all earlier writes have returned.
    ///
    /// - Returns: False if nothing has been written.
    func writeIfWritable(_ content: Content) -> Bool
}

/// The delivery of messages to a ``ListenSession`` on an event loop, while the session's task waits.
///
/// It ends, and the task continues the session, as a ``FrameDelivery`` does.
final class ListenDelivery<Writer: LiveMessageWriter>: LiveDelivery {
    private let writer: Writer
    private let queue: FrameDeliveryQueue
    private let reader: LiveListenReader
    /// The messages that the client could not take, or that cannot be encoded.
    private(set) var unsentMessages: [ListenMessage] = []

    init(_ reader: LiveListenReader, to writer: Writer, in queue: FrameDeliveryQueue) {
        self.writer = writer
        self.queue = queue
        self.reader = reader
    }

    /// Waits for the next commit.
    func waitForCommit() {
        let delivery = NIOLoopBound<any LiveDelivery>(self, eventLoop: queue.executor.eventLoop)
        reader.notify { [queue] in queue.add(delivery) }
    }

    func deliver(sharing sent: inout SentFrames) {
        guard !reader.isEnded else { return }
        guard let entry = sent.messages.entry(for: reader, encodedAs: writer.encoding) ?? readMessages(sharing: &sent.messages)
        else {
            return reader.end(hasProgressed: false)
        }
        if !entry.messages.isEmpty {
            guard let content = entry.content as? Writer.Content, writer.writeIfWritable(content) else {
                unsentMessages = entry.messages
                return reader.end()
            }
        }
        waitForCommit()
    }

    /// The time after which no further commit is read for a session at a time.
    private static var maximumReadTime: TimeAmount { .milliseconds(1) }

    /// Reads and encodes the messages of the next commits, until they fill a chunk or have taken long. Returns `nil` if there is no commit
    /// to read.
    private func readMessages(sharing sent: inout SentMessages) -> SentMessages.Entry? {
        let start = reader.position
        var messages: [ListenMessage] = []
        var byteCount = 0
        let deadline = NIODeadline.now() + Self.maximumReadTime
        while byteCount < chunkBytes, let next = reader.next() {
            messages += next
            byteCount += next.reduce(0) { $0 + $1.contentByteCount }
            guard .now() < deadline else { break }
        }
        guard reader.sequence > start.sequence else { return nil }
        let entry = SentMessages.Entry(
            encoding: writer.encoding,
            start: start,
            end: reader.position,
            messages: messages,
            content: messages.isEmpty ? nil : try? writer.encode(messages)
        )
        sent.append(entry)
        return entry
    }
}

/// The messages of new commits that were sent to the sessions of an event loop, for other sessions with the same targets.
struct SentMessages {
    struct Entry {
        let encoding: UTF8Key
        let start: LiveListenPosition
        let end: LiveListenPosition
        /// The messages; none for commits that affect no target.
        let messages: [ListenMessage]
        /// The encoded messages; `nil` without messages, and if they cannot be encoded.
        let content: (any Sendable)?
    }

    private var entries: [Entry] = []

    /// The maximum number of entries, which are searched one by one.
    private static let maximumCount = 8

    /// Adds messages that have been read for a session.
    mutating func append(_ entry: Entry) {
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append(entry)
    }

    /// Returns the messages that follow in a session, and advances its reader past them; `nil` if they have not been read.
    func entry(for reader: LiveListenReader, encodedAs encoding: UTF8Key) -> Entry? {
        entries.last { entry in
            entry.encoding == encoding && reader.advance(from: entry.start, to: entry.end, sends: !entry.messages.isEmpty)
        }
    }
}

extension ListenMessage {
    /// The approximate size of the message.
    fileprivate var contentByteCount: Int {
        if case .changed(let document, _, _) = self { 256 + document.fieldsJSON.count } else { 256 }
    }
}
