package import DocumentModel
package import DocumentStore
internal import Journal
internal import StorageIO
internal import UTF8Text

/// The state of a data folder, as far as its own files tell without reading documents. A server may have it open meanwhile.
package struct DataFolderSummary: Sendable {
    /// A file at the top level.
    package struct File: Sendable {
        package let name: String
        package let byteCount: Int
    }

    /// The state of the journal.
    package struct JournalSummary: Sendable {
        /// The number of segments.
        package fileprivate(set) var segmentCount = 0
        package fileprivate(set) var byteCount = 0
        /// The first commit that is kept; `nil` without a journal.
        package fileprivate(set) var firstSequence: SequenceNumber?
    }

    /// The format version of the folder.
    package let format: Int64
    /// The last checkpoint.
    package let sequence: SequenceNumber
    /// The time of its commit; `nil` before the first commit.
    package let commitTime: Timestamp?
    /// True if the database was shut down cleanly.
    package let isClean: Bool
    /// The files at the top level, by name.
    package let files: [File]
    package let journal: JournalSummary
    /// The paths of what a standby, or a former primary, has set aside for people to look at.
    package let setAside: [String]
    /// The process that has opened the folder last; `nil` if none has.
    package let lastProcess: Int32?

    /// Reads the state of the data folder at a path. Blocks.
    ///
    /// - Throws: `.notFound` if there is no folder; `.failedPrecondition` if it is not a data folder, or was created by a newer version
    ///   of Hearth; `.unavailable` if it cannot be read.
    package init(readingFrom path: String) throws(StatusError) {
        let root = try DataFolder.openExistingRoot(path)
        let manifest = try DataFolder.requireManifest(in: root, path)
        format = DataFolderManifest.format
        (sequence, commitTime, isClean) = (manifest.sequence, manifest.commitTime, manifest.isClean)
        files = try reporting("list", ".") { () throws(FileSystemError) in
            var files: [File] = []
            var listing = try root.openForListing()
            while let entry = try listing.next() {
                guard let status = try root.status(of: entry.text), status.kind == .file else { continue }
                files.append(File(name: entry.text, byteCount: status.size))
            }
            return files.sorted { UTF8Key($0.name) < UTF8Key($1.name) }
        }
        journal = try Self.journal(in: root)
        setAside = try StandbyFolder.setAside(in: root)
        let lock = try reporting("read", DataFolder.lockName) { () throws(FileSystemError) in
            try root.contents(ofFile: DataFolder.lockName, maximumBytes: 32)
        }
        lastProcess = lock.flatMap { Int32(String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) }
    }

    private static func journal(in root: borrowing FileDescriptor) throws(StatusError) -> JournalSummary {
        try reporting("list", Journal.folderName) { () throws(FileSystemError) in
            var journal = JournalSummary()
            guard let folder = try root.openFolderIfPresent(Journal.folderName) else { return journal }
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                guard let first = JournalSegment.first(ofName: entry.name), let status = try folder.status(of: entry.text) else {
                    continue
                }
                journal.segmentCount += 1
                journal.byteCount += status.size
                journal.firstSequence = min(journal.firstSequence ?? first, first)
            }
            return journal
        }
    }
}
