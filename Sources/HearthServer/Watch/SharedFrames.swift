import DocumentModel
import DocumentStore
import HearthService
import NIOCore
import Synchronization

/// The changes of the latest commits as they were written for the first of several watchers of the same, for the others.
final class SharedFrames: Sendable {
    /// Which changes, as which bytes.
    struct Key: Hashable {
        let database: DatabaseID?
        let target: WatchTarget
        let contents: WatchRequest.Contents
        let format: WatchFormat
        /// The one after the changes. Of a database that was made anew it is another one, though the commits have the same numbers.
        let token: WatchToken
    }

    private struct State {
        var buffers: [Key: ByteBuffer] = [:]
        /// The keys in the order in which they came.
        var keys: [Key] = []
        var byteCount = 0
    }

    private let state = Mutex(State())
    private let maximumBytes: Int

    init(maximumBytes: Int = 4 << 20) {
        self.maximumBytes = maximumBytes
    }

    /// What was written before under a key, or else what `write` gives, which is kept for a while.
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
