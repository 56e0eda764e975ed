public import DocumentModel

/// The state of the queue of writes that the server has not answered, with those that other processes have left behind.
public struct WriteQueueStatus: Hashable, Sendable {
    /// The number of calls whose writes are in the queue.
    public private(set) var count: Int
    /// The approximate size of the writes in bytes.
    public private(set) var byteCount: Int
    /// The time of the first of the calls, by the server's clock as far as it is known; `nil` if the queue is empty.
    public private(set) var oldestWriteTime: Timestamp?
    /// The error of the last attempt to send writes; `nil` after a success. It is not final: another attempt follows.
    public private(set) var lastError: FirestoreError?
    /// The local time since which all attempts to send the first of the calls have failed; `nil` after a success. Every ten minutes of
    /// failures are logged.
    public private(set) var failingSince: Timestamp?
    /// True if the queue survives the process. False with ``MemoryCacheSettings``, and without usable files: see ``problem``.
    public let isPersistent: Bool
    /// The error because of which the queue is in memory in spite of ``PersistentCacheSettings``, or the damage that was found in its files;
    /// `nil` if there was neither since the database was first used. The code of damage is ``FirestoreErrorCode/dataLoss``.
    public let problem: FirestoreError?

    /// Adds the queue that another process has left behind.
    mutating func add(_ other: WriteQueueStatus) {
        count += other.count
        byteCount += other.byteCount
        oldestWriteTime = [oldestWriteTime, other.oldestWriteTime].compactMap(\.self).min()
        lastError = lastError ?? other.lastError
        failingSince = [failingSince, other.failingSince].compactMap(\.self).min()
    }
}
