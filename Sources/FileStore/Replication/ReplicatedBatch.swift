internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore

/// Commits of a primary that share one journal sync, compared with the last commit of the store, with before-images of its own.
struct ReplicatedBatch {
    /// The commits, with before-images.
    private(set) var commits: [Commit] = []
    private(set) var last: (sequence: SequenceNumber, time: Timestamp?)
    private var before: [DocumentPath: EncodedDocument?] = [:]
    private var after: [DocumentPath: EncodedDocument?] = [:]
    private var decoded: [DocumentPath: MapValue?] = [:]
    private var order: [DocumentPath] = []
    /// The documents whose files cannot be read, which are replaced.
    private var damaged: Set<DocumentPath> = []
    private var byteCount = 0

    /// The number of changes and the size from which on no more commits are added.
    private static let maximumChanges = 500
    private static let maximumBytes = 4 << 20

    /// Takes the first commits, at least one.
    ///
    /// - Parameter read: Reads a document as it was before the batch.
    /// - Throws: `.dataLoss` if a commit does not follow the one before.
    init(
        _ commits: ArraySlice<Commit>,
        after position: StorePosition,
        read: (DocumentPath) throws(StatusError) -> EncodedDocument?
    ) throws(StatusError) {
        last = (position.lastSequence, position.lastCommitTime)
        for commit in commits {
            guard order.isEmpty || order.count + commit.changes.count <= Self.maximumChanges && byteCount < Self.maximumBytes
            else {
                break
            }
            try check(commit)
            self.commits.append(try withBeforeImages(commit, read: read))
            last = (commit.sequence, commit.time)
        }
    }

    /// True if the files are written after the commit, in steps.
    var isLarge: Bool { order.count > Self.maximumChanges }

    var netChanges: [NetDocumentChange] {
        order.map { path in
            let isNew = (before[path] ?? nil) == nil && !damaged.contains(path)
            return NetDocumentChange(path: path, document: after[path] ?? nil, isNew: isNew)
        }
    }

    /// The net changes for the index.
    var indexUpdate: IndexUpdate? {
        guard let first = commits.first, let newest = commits.last else { return nil }
        return IndexUpdate(
            first: first.sequence,
            last: newest.sequence,
            time: newest.time,
            changes: order.map { ($0, decoded[$0] ?? nil) },
            byteCount: byteCount
        )
    }

    private func check(_ commit: Commit) throws(StatusError) {
        guard commit.sequence == last.sequence.next else {
            throw StatusError(
                .dataLoss,
                "The primary sent commit \(commit.sequence) instead of \(last.sequence.next). It was not applied."
            )
        }
        guard last.time.map({ $0 < commit.time }) ?? true, !commit.changes.isEmpty || commit.receipt != nil else {
            throw StatusError(
                .dataLoss,
                "The primary sent commit \(commit.sequence) with the time \(commit.time), which is not after that of the one before, or "
                    + "without changes. It was not applied."
            )
        }
    }

    private mutating func withBeforeImages(
        _ commit: Commit,
        read: (DocumentPath) throws(StatusError) -> EncodedDocument?
    ) throws(StatusError) -> Commit {
        var changes: [CommittedChange] = []
        for change in commit.changes {
            let path = change.path
            if before[path] == nil {
                do throws(StatusError) {
                    before[path] = .some(try read(path))
                } catch {
                    if let committed = error.versionBeforeEdit {
                        before[path] = .some(committed)
                    } else {
                        // The primary's document replaces a file that is damaged here.
                        guard error.code == .dataLoss else { throw error }
                        before[path] = .some(nil)
                        damaged.insert(path)
                    }
                }
                order.append(path)
            }
            let previous = (after[path] ?? before[path]) ?? nil
            after[path] = .some(change.after)
            decoded[path] = .some(
                try change.after.map { document throws(StatusError) in try document.decoded().fields }
            )
            byteCount += 128 + path.string.utf8.count + (change.after?.fieldsJSON.count ?? 0) + (previous?.fieldsJSON.count ?? 0)
            changes.append(
                CommittedChange(path: path, before: previous, after: change.after, existedBefore: change.existedBefore)
            )
        }
        return Commit(
            sequence: commit.sequence,
            time: commit.time,
            author: commit.author,
            changes: changes,
            receipt: commit.receipt
        )
    }
}
