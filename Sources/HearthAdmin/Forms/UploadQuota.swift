import Synchronization

/// The limit on the disk space that all uploaded files use.
///
/// A file holds a reservation from its first byte until it is deleted: while it is received, stored, and read by a job.
final class UploadQuota: Sendable {
    private let limit: Int
    private let reservedBytes = Mutex(0)

    /// - Parameter limit: The maximum size of all files in bytes.
    init(limit: Int) {
        self.limit = limit
    }

    private func reserve(_ byteCount: Int) -> Bool {
        reservedBytes.withLock { reserved in
            guard byteCount <= limit - reserved else { return false }
            reserved += byteCount
            return true
        }
    }

    private func release(_ byteCount: Int) {
        reservedBytes.withLock { $0 -= byteCount }
    }

    /// The reserved space of one file, released when the reservation is deinitialized.
    final class Reservation: Sendable {
        private let quota: UploadQuota
        private let byteCount = Mutex(0)

        init(in quota: UploadQuota) {
            self.quota = quota
        }

        deinit {
            quota.release(byteCount.withLock { $0 })
        }

        /// Reserves more bytes; returns `false` when that would exceed the quota.
        func reserve(_ additionalBytes: Int) -> Bool {
            guard quota.reserve(additionalBytes) else { return false }
            byteCount.withLock { $0 += additionalBytes }
            return true
        }
    }
}
