internal import DocumentModel

/// The damage that opening a cache has found, and what became of it.
package struct OpeningReport: Hashable, Sendable {
    /// The path to which a damaged `cache.sqlite` was moved; `nil` if it was sound. What it had will be read from the server again.
    package var setAsideCache: String?
    /// The recovery of a damaged `queue.sqlite`; `nil` if it was sound.
    package var queueRecovery: QueueRecovery?

    /// Creates the report of files without damage.
    package init() {}

    /// The recovery of a damaged queue.
    package struct QueueRecovery: Hashable, Sendable {
        /// The damage.
        package var damage: String
        /// The path to which the damaged file was moved, where it is kept.
        package var setAsideFile = ""
        /// The number of batches that were taken over, and will be sent.
        package var recoveredCount = 0
        /// The number of batches that could not be read; `nil` if that is not known either.
        package var lostCount: Int?
        /// The number of batches that may have been made before, and would be made twice if they were sent again. They are among the
        /// rejected ones, with the code ``StatusCode/unknown``.
        package var doubtfulCount = 0
        /// The number of rejected batches that were taken over.
        package var recoveredRejectedCount = 0

        /// Creates the report of a recovery that has not begun.
        init(damage: String) {
            self.damage = damage
        }
    }
}
