import Synchronization

/// The room on the disk for files that are sent. Each takes its share from its first byte until it is gone: on its way, kept, and while a
/// work reads it.
final class UploadRoom: Sendable {
    private let limit: Int
    private let takenBytes = Mutex(0)

    /// - Parameter limit: How many bytes all files may have together.
    init(limit: Int) {
        self.limit = limit
    }

    private func take(_ byteCount: Int) -> Bool {
        takenBytes.withLock { taken in
            guard byteCount <= limit - taken else { return false }
            taken += byteCount
            return true
        }
    }

    private func giveBack(_ byteCount: Int) {
        takenBytes.withLock { $0 -= byteCount }
    }

    /// What a file takes of the room, for as long as this is there.
    final class Share: Sendable {
        private let room: UploadRoom
        private let byteCount = Mutex(0)

        init(of room: UploadRoom) {
            self.room = room
        }

        deinit {
            room.giveBack(byteCount.withLock { $0 })
        }

        /// Takes so many bytes more; false when there is no room for them.
        func take(_ more: Int) -> Bool {
            guard room.take(more) else { return false }
            byteCount.withLock { $0 += more }
            return true
        }
    }
}
