internal import DocumentModel
internal import StrictJSON

/// A document that a batch changes.
struct BatchResult {
    let path: DocumentPath
    /// What it is at the end; nil when it is deleted.
    let document: EncodedDocument?
    /// Whether there was nothing of it before.
    let isNew: Bool
}

/// The commits that share one journal sync: evaluated in order, each on what the ones before it made, in memory only.
struct CommitBatch {
    /// A document as it is at some point of the batch.
    private struct Image {
        let encoded: EncodedDocument?
        let decoded: Document?
        /// Whether there was nothing of it before the batch.
        let isNew: Bool
        var isChanged = false
    }

    /// A document in one commit: as it was, and as the writes so far have made it.
    private struct Edit {
        let before: EncodedDocument?
        var now: Document?
        /// Whether the file is damaged, so that the same document written again is a change.
        let isDamaged: Bool
        var isChanged = false
    }

    /// Reads a document as it was before the batch.
    typealias Reading = (DocumentPath) throws(StatusError) -> EncodedDocument?

    /// The commits that change something, in order, ready to be published.
    private(set) var commits: [Commit] = []
    /// About how many bytes they take in the journal, at most.
    private var byteCount = 0
    /// How many writes were evaluated.
    private var writeCount = 0
    /// What came of each commit that was evaluated, to be told once the batch is durable.
    private(set) var outcomes: [Result<CommitResult, StatusError>] = []
    /// The last sequence number and time that were given out.
    private(set) var last: (sequence: SequenceNumber, time: Timestamp?)

    private let now: () -> Timestamp
    private var images: [DocumentPath: Image] = [:]
    private var changedPaths: [DocumentPath] = []
    /// The last commit of the batch that changed a document in a scope.
    private var changes: [ReadScope: SequenceNumber] = [:]

    /// A batch behind the commit `last`.
    init(after last: (sequence: SequenceNumber, time: Timestamp?), now: @escaping () -> Timestamp) {
        self.last = last
        self.now = now
    }

    /// The documents that the batch changes.
    var results: [BatchResult] {
        changedPaths.map { BatchResult(path: $0, document: images[$0]?.encoded, isNew: images[$0]?.isNew == true) }
    }

    /// The same as the index takes it in.
    var indexUpdate: IndexUpdate? {
        guard let first = commits.first, let newest = commits.last else { return nil }
        return IndexUpdate(
            first: first.sequence,
            last: newest.sequence,
            time: newest.time,
            changes: changedPaths.map { ($0, images[$0]?.decoded?.fields) },
            byteCount: byteCount
        )
    }

    /// About how many bytes of frames make a batch that is not lengthened any more.
    private static let maximumBytes = 4 << 20
    /// How many writes a batch of several commits holds at most.
    static let maximumWrites = 2_000

    /// Whether a commit is to be evaluated in this batch. Who is in a batch waits for all of it, so the small ones don't wait
    /// for a large one that comes after them, nor for too many.
    func hasRoom(for commit: PendingCommit) -> Bool {
        outcomes.isEmpty || byteCount < Self.maximumBytes && writeCount + commit.writes.count <= Self.maximumWrites
    }

    /// Evaluates one more commit. One that fails changes nothing and uses no sequence number.
    ///
    /// - Parameter earlier: What the commits before the batch changed.
    mutating func add(_ commit: PendingCommit, earlier: CollectionChanges, read: Reading) {
        writeCount += commit.writes.count
        do throws(StatusError) {
            try validate(commit.reads, earlier: earlier, read: read)
            outcomes.append(.success(try evaluate(commit, read: read)))
        } catch {
            outcomes.append(.failure(error))
        }
    }

    /// Takes in a commit that can't be carried out.
    mutating func refuse(_ commit: PendingCommit, because error: StatusError) {
        writeCount += commit.writes.count
        outcomes.append(.failure(error))
    }
}

extension CommitBatch {
    private func validate(_ reads: ReadSet, earlier: CollectionChanges, read: Reading) throws(StatusError) {
        try reads.validate { path throws(StatusError) in
            if let image = images[path] { return image.encoded?.updateTime }
            return try read(path)?.updateTime
        } lastChange: { scope in
            changes[scope] ?? earlier.last(in: scope)
        }
    }

    private mutating func evaluate(_ commit: PendingCommit, read: Reading) throws(StatusError) -> CommitResult {
        let time = try nextTime()
        var edits: [DocumentPath: Edit] = [:]
        var order: [DocumentPath] = []
        var writeResults: [WriteResult] = []
        writeResults.reserveCapacity(commit.writes.count)
        for (index, write) in commit.writes.enumerated() {
            do throws(StatusError) {
                var edit: Edit
                if let begun = edits[write.path] {
                    edit = begun
                } else {
                    edit = try begin(write.path, isDamaged: commit.reads.damage[write.path] != nil, read: read)
                    order.append(write.path)
                }
                var applied = try write.applied(to: edit.now, at: time)
                if edit.isDamaged, !applied.isChange, applied.document != nil {
                    applied.document?.updateTime = time
                    applied.result.updateTime = time
                    applied.isChange = true
                }
                edit.now = applied.document
                edit.isChanged = edit.isChanged || applied.isChange
                edits[write.path] = edit
                writeResults.append(applied.result)
            } catch {
                throw error.ofWrite(at: index)
            }
        }
        let sequence = try record(order, edits, at: time, by: commit.author)
        last.time = time
        return CommitResult(sequence: sequence, commitTime: time, writeResults: writeResults)
    }

    /// Later than every time before, however the clock was set.
    private func nextTime() throws(StatusError) -> Timestamp {
        let now = now()
        guard let last = last.time, last >= now else { return now }
        return try Timestamp(microseconds: last.microseconds + 1)
    }

    private mutating func begin(_ path: DocumentPath, isDamaged: Bool, read: Reading) throws(StatusError) -> Edit {
        if let image = images[path] { return Edit(before: image.encoded, now: image.decoded, isDamaged: false) }
        let encoded = try read(path)
        let decoded = try encoded?.decoded()
        // Kept, so that further commits of the batch don't read it again. To them, a damaged document is damaged.
        if !isDamaged { images[path] = Image(encoded: encoded, decoded: decoded, isNew: encoded == nil) }
        return Edit(before: encoded, now: decoded, isDamaged: isDamaged)
    }

    /// Takes the net changes into the batch; returns their sequence number, or nil when there are none.
    private mutating func record(
        _ order: [DocumentPath],
        _ edits: [DocumentPath: Edit],
        at time: Timestamp,
        by author: UTF8Key?
    ) throws(StatusError) -> SequenceNumber? {
        var changes: [DocumentChange] = []
        var bytes = 0
        for path in order {
            guard let edit = edits[path], edit.isChanged, edit.before != nil || edit.now != nil else { continue }
            let after = edit.now.map { EncodedDocument($0) }
            // The frame may carry both.
            bytes += 128 + path.string.utf8.count + (after?.fieldsJSON.count ?? 0) + (edit.before?.fieldsJSON.count ?? 0)
            changes.append(DocumentChange(path: path, before: edit.before, after: after, existedBefore: edit.before != nil))
        }
        guard !changes.isEmpty else { return nil }
        guard bytes <= JournalFrame.maximumBytes else {
            throw StatusError(
                .invalidArgument,
                "The commit changes \(bytes) bytes of documents, and at most \(JournalFrame.maximumBytes) fit into one. "
                    + "Divide it into several commits."
            )
        }
        let commit = Commit(sequence: last.sequence.next, time: time, author: author, changes: changes)
        byteCount += bytes
        commits.append(commit)
        last.sequence = commit.sequence
        self.changes[.everything] = commit.sequence
        for change in changes {
            for scope in change.path.scopes { self.changes[scope] = commit.sequence }
            note(change, decoded: edits[change.path]?.now)
        }
        return commit.sequence
    }

    private mutating func note(_ change: DocumentChange, decoded: Document?) {
        let known = images[change.path]
        if known?.isChanged != true { changedPaths.append(change.path) }
        images[change.path] = Image(encoded: change.after, decoded: decoded, isNew: known?.isNew == true, isChanged: true)
    }
}
