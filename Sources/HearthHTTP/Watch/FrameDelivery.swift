import HearthAPI
import NIOCore

/// The delivery of frames to a live stream on its event loop, while the stream's task waits.
///
/// It ends, and the task continues the stream, when the client does not read enough, when a commit has to be read or is large, and
/// when the stream ends. What has not been sent then is left to the task.
final class FrameDelivery: LiveDelivery {
    private let stream: WatchStream
    private let writer: any StreamBodyWriter
    private let queue: FrameDeliveryQueue
    private let reader: LiveWatchReader
    /// Encoded frames that the client could not take.
    private(set) var unsentBytes = ByteBuffer()
    /// The frames of a commit that is too large to be encoded on the event loop.
    private(set) var unsentFrames: [OutgoingWatchFrame] = []

    init(_ stream: WatchStream, _ reader: LiveWatchReader, to writer: any StreamBodyWriter, in queue: FrameDeliveryQueue) {
        self.stream = stream
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
        let bytes: ByteBuffer
        if let shared = sent.bytes(for: stream, at: reader) {
            bytes = shared
        } else {
            let start = reader.position
            bytes = readFrames()
            guard reader.position.sequence > start.sequence else { return reader.end(hasProgressed: false) }
            if unsentFrames.isEmpty { sent.append(bytes, of: stream, from: start, to: reader.position) }
        }
        if bytes.readableBytes > 0, !writer.writeIfWritable(bytes) { unsentBytes = bytes }
        if unsentBytes.readableBytes > 0 || !unsentFrames.isEmpty { reader.end() } else { waitForCommit() }
    }

    /// Returns the encoded frames of the next commits, until they fill a chunk or one has to be encoded by the task.
    private func readFrames() -> ByteBuffer {
        var bytes = ByteBuffer()
        while bytes.readableBytes < chunkBytes, let frames = reader.next() {
            guard var encoded = stream.sharedBuffer(of: frames, maximumBytes: chunkBytes) else {
                unsentFrames = frames
                break
            }
            if bytes.readableBytes == 0 { bytes = encoded } else { bytes.writeBuffer(&encoded) }
        }
        return bytes
    }
}

/// The frames of new commits that were sent to streams of an event loop, for other streams with the same target; no bytes for
/// commits that don't affect it.
struct SentFrames {
    private struct Entry {
        let stream: WatchStream
        let start: LiveWatchPosition
        let end: LiveWatchPosition
        let bytes: ByteBuffer
    }

    private var entries: [Entry] = []
    /// The messages to streams with several targets.
    var messages = SentMessages()

    /// The maximum number of entries, which are searched one by one.
    private static let maximumCount = 8

    /// Adds frames that have been read for a stream.
    mutating func append(_ bytes: ByteBuffer, of stream: WatchStream, from start: LiveWatchPosition, to end: LiveWatchPosition) {
        if entries.count == Self.maximumCount { entries.removeFirst() }
        entries.append(Entry(stream: stream, start: start, end: end, bytes: bytes))
    }

    /// Returns the frames that follow in a stream, and advances its reader past them; `nil` if they have not been read.
    func bytes(for stream: WatchStream, at reader: LiveWatchReader) -> ByteBuffer? {
        let entry = entries.last { entry in
            entry.stream.hasSameFrames(as: stream)
                && reader.advance(from: entry.start, to: entry.end, sends: entry.bytes.readableBytes > 0)
        }
        return entry?.bytes
    }
}
