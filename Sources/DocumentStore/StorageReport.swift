/// What a store takes of its disk, and what waits to be put on it.
package struct StorageReport: Hashable, Sendable {
    /// How large the journal is.
    package let journalBytes: Int
    /// How large it may become.
    package let maximumJournalBytes: Int
    /// How much room the disk has left for this process; nil when it doesn't tell.
    package let freeBytes: Int?
    /// How many documents are as commits made them in the journal only, since their files can't be changed.
    package let waitingCount: Int
    /// How much there is in the database, as of the last commits that the index has taken in; nil while it is made.
    package var size: CollectionSize?

    /// Makes a report.
    package init(
        journalBytes: Int,
        maximumJournalBytes: Int,
        freeBytes: Int?,
        waitingCount: Int,
        size: CollectionSize? = nil
    ) {
        self.journalBytes = journalBytes
        self.maximumJournalBytes = maximumJournalBytes
        self.freeBytes = freeBytes
        self.waitingCount = waitingCount
        self.size = size
    }
}
