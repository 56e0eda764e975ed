package import DocumentModel
package import DocumentStore
internal import UTF8Text

/// Collects the versions of a document from the journal, newest first.
package struct VersionCollector: Sendable {
    /// The document.
    let path: DocumentPath
    /// The exclusive upper bound on the versions' times; `nil` for no bound.
    let before: Timestamp?
    private let count: Int
    private var versions: [DocumentVersion] = []
    /// The oldest change found.
    private var oldest: (time: Timestamp, change: CommittedChange)?

    /// - Parameter count: The number of versions to collect.
    package init(of path: DocumentPath, before: Timestamp?, count: Int) {
        self.path = path
        self.before = before
        self.count = count
    }

    /// True if enough versions have been collected.
    package var isComplete: Bool { versions.count >= count }

    /// True if no change before the bound was found, so that the before-image of the first change after it is needed.
    package var needsFollowingChange: Bool { oldest == nil && !isComplete }

    /// Adds the first change at or after the bound, whose before-image is the newest version before it.
    mutating func add(following change: CommittedChange, of commit: Commit) {
        oldest = (commit.time, change)
    }

    /// Adds the next older change.
    mutating func add(_ change: CommittedChange, of commit: Commit) {
        add(change.after, at: commit.time, by: commit.author)
        oldest = (commit.time, change)
    }

    /// Returns the versions, after the oldest segment has been read or enough have been collected.
    ///
    /// - Parameter current: The document in its file, used when no retained commit changed it.
    package consuming func finish(current: Result<EncodedDocument?, StatusError>) throws(StatusError) -> [DocumentVersion] {
        guard !isComplete else { return versions }
        let first = if let oldest { oldest.change.before } else { try current.get() }
        guard let first, oldest.map({ first.updateTime < $0.time }) ?? true else { return versions }
        add(first, at: first.updateTime, by: nil)
        return versions
    }

    private mutating func add(_ document: EncodedDocument?, at time: Timestamp, by author: UTF8Key?) {
        if let before, time >= before { return }
        versions.append(DocumentVersion(commitTime: time, document: document, author: author))
    }
}

extension HistoryIndex {
    /// Collects versions from a segment. Does not read commits at or after the bound.
    package func add(_ index: SegmentIndex, to versions: inout VersionCollector) throws(StatusError) {
        let reader = makeReader()
        let records = index.records(changing: versions.path, in: 0..<index.firstRecord(from: versions.before))
        for record in records.reversed() where !versions.isComplete {
            let commit = try reader.commit(at: record, in: index)
            guard let change = commit.change(to: versions.path) else { continue }
            versions.add(change, of: commit)
        }
    }

    /// Adds the first change at or after the bound in a segment, for its before-image.
    package func addFollowing(_ index: SegmentIndex, to versions: inout VersionCollector) throws(StatusError) {
        let reader = makeReader()
        for record in index.records(changing: versions.path, in: index.firstRecord(from: versions.before)..<index.records.count) {
            let commit = try reader.commit(at: record, in: index)
            guard let change = commit.change(to: versions.path) else { continue }
            return versions.add(following: change, of: commit)
        }
    }
}

extension HistoryIndex {
    /// Returns the versions of documents after their last changes in a segment, if it has any. Reads each record once.
    package func lastVersions(
        of paths: some Sequence<DocumentPath>,
        in index: SegmentIndex
    ) throws(StatusError) -> [DocumentPath: DocumentVersion] {
        let reader = makeReader()
        var versions: [DocumentPath: DocumentVersion] = [:]
        for (record, paths) in index.lastRecords(changing: paths).sorted(by: { $0.key < $1.key }) {
            let commit = try reader.commit(at: record, in: index)
            var rest = Set(paths)
            for change in commit.changes where rest.remove(change.path) != nil {
                versions[change.path] = DocumentVersion(commitTime: commit.time, document: change.after, author: commit.author)
            }
            // The last commit has changed another document with the same hash.
            for path in rest {
                var collector = VersionCollector(of: path, before: nil, count: 1)
                try add(index, to: &collector)
                if collector.isComplete { versions[path] = try collector.finish(current: .success(nil)).first }
            }
        }
        return versions
    }
}
