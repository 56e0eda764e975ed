/// A store's disk usage and pending file changes.
package struct StorageReport: Hashable, Sendable {
    /// A resource of a disk that documents take.
    package enum DiskResource: Hashable, Sendable {
        /// The space for their contents.
        case space
        /// The entries of the file system's table of files.
        case inodes
    }

    /// The total and the free amount of a disk resource.
    package struct DiskCapacity: Hashable, Sendable {
        /// The amount that the disk has.
        package let total: Int
        /// The amount that is available to this process.
        package let free: Int

        /// Creates a capacity.
        package init(total: Int, free: Int) {
            (self.total, self.free) = (total, free)
        }

        /// Returns whether the resource is running out: less than 1 GiB or 100,000 inodes are free, or a twentieth of a small
        /// disk's.
        package func isLow(_ resource: DiskResource) -> Bool {
            let limit =
                switch resource {
                case .space: 1 << 30
                case .inodes: 100_000
                }
            return free < min(limit, total / 20)
        }
    }

    /// The journal's size.
    package let journalBytes: Int
    /// The journal's maximum size.
    package let maximumJournalBytes: Int
    /// The disk's space, in bytes; `nil` if it is unknown.
    package let space: DiskCapacity?
    /// The disk's inodes; `nil` if the file system creates them as needed.
    package let inodes: DiskCapacity?
    /// The number of documents whose last commit is not yet applied to their files, because the files cannot be written.
    package let unappliedCount: Int
    /// The number and size of documents, as of the last indexed commit; `nil` while the index is being built.
    package var size: CollectionSize?
    /// The last commit that the index includes; `nil` while the index cannot be used.
    package var indexedSequence: SequenceNumber?
    /// The number of documents that reads have found to be unreadable.
    package var damagedCount = 0
    /// The number of edits of files that have not become commits and need a person; see ``LocalFiles/problems(limit:)``.
    package var fileProblemCount = 0

    /// Creates a report.
    package init(
        journalBytes: Int,
        maximumJournalBytes: Int,
        space: DiskCapacity?,
        inodes: DiskCapacity?,
        unappliedCount: Int,
        size: CollectionSize? = nil
    ) {
        self.journalBytes = journalBytes
        self.maximumJournalBytes = maximumJournalBytes
        self.space = space
        self.inodes = inodes
        self.unappliedCount = unappliedCount
        self.size = size
    }

    /// The free disk space available to this process; `nil` if it is unknown.
    package var freeBytes: Int? { space?.free }

    /// The resources of the disk that are running out.
    package var lowDiskResources: [DiskResource] {
        ([(.space, space), (.inodes, inodes)] as [(DiskResource, DiskCapacity?)]).compactMap { resource, capacity in
            capacity?.isLow(resource) == true ? resource : nil
        }
    }
}
