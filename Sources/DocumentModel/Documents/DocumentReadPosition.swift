/// The point in a server's history as of which documents were read.
package struct DocumentReadPosition: Hashable, Sendable {
    /// The time as of which they were read, or a lower bound of it.
    package let time: Timestamp
    /// The epoch of the history that the time belongs to.
    package let epoch: String

    /// Creates a position.
    package init(time: Timestamp, epoch: String) {
        self.time = time
        self.epoch = epoch
    }
}
