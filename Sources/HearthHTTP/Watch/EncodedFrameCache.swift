import DocumentModel
import DocumentStore
import HearthAPI
import NIOCore
import Synchronization

/// A cache of the encoded frames of the latest commits, shared by streams with the same target and format.
final class EncodedFrameCache: Sendable {
    /// The identity of encoded frames.
    struct Key: Hashable {
        let database: DatabaseID?
        let target: PreparedWatchTarget
        let contents: WatchRequest.Contents
        /// True if removed documents are without their contents.
        let omitsRemoved: Bool
        let format: WatchFormat
        /// The resume token after the changes. It contains the epoch, so it differs once a database has been recreated.
        let token: ResumeToken
    }

    private struct State {
        var buffers: [Key: ByteBuffer] = [:]
        /// The keys in insertion order, for eviction.
        var keys: [Key] = []
        var byteCount = 0
    }

    private let state = Mutex(State())
    private let maximumBytes: Int

    init(maximumBytes: Int = 4 << 20) {
        self.maximumBytes = maximumBytes
    }

    /// Returns the cached bytes for a key, or encodes and caches them.
    func buffer(for key: Key, writing write: () -> ByteBuffer) -> ByteBuffer {
        if let buffer = state.withLock({ $0.buffers[key] }) { return buffer }
        let buffer = write()
        state.withLock { state in
            guard state.buffers.updateValue(buffer, forKey: key) == nil else { return }
            state.keys.append(key)
            state.byteCount += buffer.readableBytes
            var count = 0
            while state.byteCount > maximumBytes, count < state.keys.count {
                state.byteCount -= state.buffers.removeValue(forKey: state.keys[count])?.readableBytes ?? 0
                count += 1
            }
            state.keys.removeFirst(count)
        }
        return buffer
    }
}
