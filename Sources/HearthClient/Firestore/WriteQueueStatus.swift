public import DocumentModel

/// The state of the queue of writes that the server has not answered.
public struct WriteQueueStatus: Hashable, Sendable {
    /// The number of calls whose writes are in the queue.
    public let count: Int
    /// The approximate size of the writes in bytes.
    public let byteCount: Int
    /// The local time of the first of the calls; `nil` if the queue is empty.
    public let oldestWriteTime: Timestamp?
    /// The error of the last attempt to send writes; `nil` after a success. It is not final: another attempt follows.
    public let lastError: FirestoreError?
    /// The local time since which all attempts to send the first of the calls have failed; `nil` after a success. Every ten minutes of
    /// failures are logged.
    public let failingSince: Timestamp?
}
