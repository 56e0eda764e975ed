/// A store's disk usage and pending file changes.
package struct StorageReport: Hashable, Sendable {
    /// The journal's size.
    package let journalBytes: Int
    /// The journal's maximum size.
    package let maximumJournalBytes: Int
    /// The free disk space available to this process; nil if it is unknown.
    package let freeBytes: Int?
    /// The number of documents whose last commit is not yet applied to their files, because the files can't be written.
    package let unappliedCount: Int
    /// The number and size of documents, as of the last indexed commit; nil while the index is being built.
    package var size: CollectionSize?

    /// Creates a report.
    package init(
        journalBytes: Int,
        maximumJournalBytes: Int,
        freeBytes: Int?,
        unappliedCount: Int,
        size: CollectionSize? = nil
    ) {
        self.journalBytes = journalBytes
        self.maximumJournalBytes = maximumJournalBytes
        self.freeBytes = freeBytes
        self.unappliedCount = unappliedCount
        self.size = size
    }
}
