package import DocumentModel
internal import UTF8Text

/// The commits that a store makes durable together, evaluated in order and in memory, each against the results of the previous ones.
package struct CommitBatch {
    /// A document at some point in the batch.
    package struct Image: Sendable {
        /// The document; `nil` if it does not exist.
        package let encoded: EncodedDocument?
        /// The same document, decoded.
        package let decoded: Document?
        /// True if the document did not exist before the batch.
        package let isNew: Bool
        fileprivate var isChanged = false

        /// Decodes a document as of before the batch; `nil` if it doesn't exist.
        package init(_ encoded: EncodedDocument?) throws(StatusError) {
            self.init(encoded: encoded, decoded: try encoded?.decoded(), isNew: encoded == nil)
        }

        fileprivate init(encoded: EncodedDocument?, decoded: Document?, isNew: Bool, isChanged: Bool = false) {
            self.encoded = encoded
            self.decoded = decoded
            self.isNew = isNew
            self.isChanged = isChanged
        }
    }

    /// A document during one commit.
    private struct Edit {
        /// The document before the commit.
        let before: EncodedDocument?
        /// The document after the writes so far.
        var current: Document?
        /// True if the file is damaged, so that writing an equal document is a change.
        let isDamaged: Bool
        /// True if the document existed before the commit, though its version is not known.
        var isOfUnknownVersion = false
        var isChanged = false
    }

    /// Returns whether a commit of the batch has changed a document.
    package func hasChanged(_ path: DocumentPath) -> Bool { images[path]?.isChanged == true }

    /// Reads a document as it was before the batch.
    package typealias Reader = (DocumentPath) throws(StatusError) -> EncodedDocument?

    /// The commits with changes, in order, ready to be stored and published.
    package private(set) var commits: [Commit] = []
    /// An upper bound on the size of the batch in a commit log.
    package private(set) var byteCount = 0
    /// The number of evaluated writes.
    private var writeCount = 0
    /// The outcomes of the evaluated commits, to be returned once the batch is durable.
    package private(set) var outcomes: [Result<CommitResult, StatusError>] = []
    /// The last assigned sequence number and commit time.
    package private(set) var last: (sequence: SequenceNumber, time: Timestamp?)

    /// The receipts of the clients whose commits have been decided in the batch.
    package private(set) var receipts: [CommitClientID: ClientReceipts] = [:]

    /// The additions that the commits may make; `nil` if they are not limited.
    package var allowance: DatabaseQuota.Allowance?

    /// True if no commit writes a document, so that the batch frees disk space.
    package var onlyDeletes: Bool { commits.allSatisfy { $0.changes.allSatisfy { $0.after == nil } } }

    private let now: () -> Timestamp
    private let maximumCommitBytes: Int
    private let check: ([CommittedChange]) throws(StatusError) -> Void
    private var images: [DocumentPath: Image]
    /// The documents that the batch changes, in the order of their first changes.
    package private(set) var changedPaths: [DocumentPath] = []
    /// The last commit of the batch that changed each scope.
    private var scopeVersions: [ReadScope: SequenceNumber] = [:]

    /// Creates an empty batch after the commit `last`.
    ///
    /// - Parameters:
    ///   - images: Documents that have been read already, as of before the batch.
    ///   - maximumCommitBytes: The maximum size of a commit, with the documents before and after it.
    ///   - check: Throws for the changes of a commit that exceed a limit of the store.
    ///   - now: Returns the time of the next commit, unless that is not after the one before.
    package init(
        after last: (sequence: SequenceNumber, time: Timestamp?),
        images: [DocumentPath: Image] = [:],
        maximumCommitBytes: Int,
        check: @escaping ([CommittedChange]) throws(StatusError) -> Void = { _ throws(StatusError) in },
        now: @escaping () -> Timestamp
    ) {
        self.last = last
        self.images = images
        self.maximumCommitBytes = maximumCommitBytes
        self.check = check
        self.now = now
    }

    /// Returns a document that the batch has read or changed, as of its last commit; `nil` for any other.
    package func image(of path: DocumentPath) -> Image? { images[path] }

    /// The record size at which a batch accepts no more commits.
    private static let maximumBytes = 4 << 20
    /// The maximum number of writes in a batch of several commits.
    package static let maximumWrites = 2_000

    /// Returns whether the batch accepts a commit.
    ///
    /// Every caller waits for the whole batch. The limits keep small commits from waiting for a large one behind them, or for too
    /// many others.
    package func accepts(_ commit: CommitRequest) -> Bool {
        outcomes.isEmpty || byteCount < Self.maximumBytes && writeCount + commit.writes.count <= Self.maximumWrites
    }

    /// Evaluates a commit. A commit that fails changes nothing and uses no sequence number.
    ///
    /// - Parameters:
    ///   - lastChange: Returns the last commit before the batch that changed a document in a scope, or a later one when that is not
    ///     known.
    ///   - earlierReceipts: The receipts of those commits.
    ///   - prepare: Throws if the documents cannot be written. A caller who is denied the commit is not told why.
    package mutating func add(
        _ commit: CommitRequest,
        lastChange: (ReadScope) -> SequenceNumber,
        earlierReceipts: CommitReceipts,
        preparing prepare: () throws(StatusError) -> Void = {},
        read: Reader
    ) {
        guard let identity = commit.identity else {
            outcomes.append(outcome(of: commit, lastChange: lastChange, preparing: prepare, read: read))
            return
        }
        let known = receipts[identity.client] ?? earlierReceipts[identity.client] ?? ClientReceipts()
        switch known.decision(on: identity) {
        case .answer(let outcome):
            outcomes.append(outcome)
        case .evaluate:
            let outcome = outcome(of: commit, lastChange: lastChange, preparing: prepare, read: read).mapError(\.decided)
            outcomes.append(outcome)
            record(outcome, of: identity, in: known)
        }
    }

    private mutating func outcome(
        of commit: CommitRequest,
        lastChange: (ReadScope) -> SequenceNumber,
        preparing prepare: () throws(StatusError) -> Void,
        read: Reader
    ) -> Result<CommitResult, StatusError> {
        writeCount += commit.writes.count
        return Result { () throws(StatusError) in
            let time = try nextTime()
            let preparation = Result(catching: prepare)
            try authorize(commit, at: time, read: read)
            try preparation.get()
            try validate(commit.reads, lastChange: lastChange, read: read)
            return try evaluate(commit, at: time, read: read)
        }
    }

    private mutating func record(
        _ outcome: Result<CommitResult, StatusError>,
        of identity: CommitIdentity,
        in known: ClientReceipts
    ) {
        var client = known
        switch outcome {
        case .success:
            // It is in the batch, whether or not it has changed anything.
            if let commit = commits.last { client.record(commit) }
        case .failure(let error):
            guard error.isFinalRefusal else { return }
            client.record(identity, refusedWith: error, at: (try? nextTime()) ?? .minimum)
        }
        receipts[identity.client] = client
    }
}

extension CommitBatch {
    private func validate(_ reads: ReadSet, lastChange: (ReadScope) -> SequenceNumber, read: Reader) throws(StatusError) {
        try reads.validate { path throws(StatusError) in
            if let image = images[path] { return image.encoded?.updateTime }
            return try read(path)?.updateTime
        } lastChange: { scope in
            scopeVersions[scope] ?? lastChange(scope)
        }
    }

    /// Decides whether a commit is permitted, on the documents as of the commit before it.
    private func authorize(_ commit: CommitRequest, at time: Timestamp, read: Reader) throws(StatusError) {
        guard let authorization = commit.author?.authorization else { return }
        let reader = { (path: DocumentPath) throws(StatusError) -> Document? in
            if let image = images[path] { return image.decoded }
            return try read(path)?.decoded()
        }
        let writes = try commit.writes.proposed(at: time, reading: reader)
        try authorization.authorize(writes, at: time, reading: reader)
    }

    private mutating func evaluate(
        _ commit: CommitRequest,
        at time: Timestamp,
        read: Reader
    ) throws(StatusError) -> CommitResult {
        var edits: [DocumentPath: Edit] = [:]
        var order: [DocumentPath] = []
        var writeResults: [WriteResult] = []
        writeResults.reserveCapacity(commit.writes.count)
        for (index, write) in commit.writes.enumerated() {
            do throws(StatusError) {
                var edit: Edit
                if let earlier = edits[write.path] {
                    edit = earlier
                } else {
                    edit = try begin(write.path, isDamaged: commit.reads.damagedFiles[write.path] != nil, read: read)
                    edit.isOfUnknownVersion = commit.unknownVersions[write.path] != nil
                    order.append(write.path)
                }
                var applied = try write.applied(to: edit.current, at: time)
                if edit.isDamaged, !applied.isChange, applied.document != nil {
                    applied.document?.updateTime = time
                    applied.result.updateTime = time
                    applied.isChange = true
                }
                if edit.isOfUnknownVersion {
                    if let created = commit.unknownVersions[write.path]?.createTime {
                        applied.document?.createTime = min(created, time)
                    }
                    applied.isChange = true
                }
                if let times = commit.times[write.path] {
                    applied.document?.createTime = times.createTime
                    applied.document?.updateTime = times.updateTime
                    applied.isChange = true
                }
                edit.current = applied.document
                edit.isChanged = edit.isChanged || applied.isChange
                edits[write.path] = edit
                writeResults.append(applied.result)
            } catch {
                throw error.withWriteIndex(index)
            }
        }
        let receipt = commit.identity.map { CommitReceipt($0, keeping: writeResults) }
        let sequence = try record(order, edits, at: time, by: commit.author?.keyID, receipt)
        last.time = time
        return CommitResult(sequence: sequence, commitTime: time, writeResults: writeResults)
    }

    /// Returns a time later than every earlier commit time, even when the clock was set back.
    private func nextTime() throws(StatusError) -> Timestamp {
        let now = now()
        guard let last = last.time, last >= now else { return now }
        return try Timestamp(microseconds: last.microseconds + 1)
    }

    private mutating func begin(_ path: DocumentPath, isDamaged: Bool, read: Reader) throws(StatusError) -> Edit {
        if let image = images[path] { return Edit(before: image.encoded, current: image.decoded, isDamaged: false) }
        let image = try Image(read(path))
        // Cached for later commits of the batch. A damaged document is not: to other commits it remains damaged.
        if !isDamaged { images[path] = image }
        return Edit(before: image.encoded, current: image.decoded, isDamaged: isDamaged)
    }

    /// Adds a commit's net changes to the batch; returns the commit's sequence number, or `nil` if nothing has changed. A commit with a
    /// receipt is added even then.
    private mutating func record(
        _ order: [DocumentPath],
        _ edits: [DocumentPath: Edit],
        at time: Timestamp,
        by author: UTF8Key?,
        _ receipt: CommitReceipt?
    ) throws(StatusError) -> SequenceNumber? {
        var changes: [CommittedChange] = []
        var bytes = receipt == nil ? 0 : CommitReceipt.maximumBytes
        for path in order {
            guard let edit = edits[path], edit.isChanged else { continue }
            let existed = edit.before != nil || edit.isOfUnknownVersion
            guard existed || edit.current != nil else { continue }
            let after = edit.current.map { EncodedDocument($0) }
            // The record may contain both images.
            bytes += 128 + path.string.utf8.count + (after?.fieldsJSON.count ?? 0) + (edit.before?.fieldsJSON.count ?? 0)
            changes.append(CommittedChange(path: path, before: edit.before, after: after, existedBefore: existed))
        }
        guard !changes.isEmpty || receipt != nil else { return nil }
        guard bytes <= maximumCommitBytes else {
            throw StatusError(
                .invalidArgument,
                "The commit changes \(bytes) bytes of documents; the maximum is \(maximumCommitBytes) bytes. "
                    + "Split it into several commits."
            )
        }
        try check(changes)
        if var allowance {
            try allowance.add(sizeChange(of: changes, edits))
            self.allowance = allowance
        }
        let commit = Commit(sequence: last.sequence.next, time: time, author: author, changes: changes, receipt: receipt)
        byteCount += bytes
        commits.append(commit)
        last.sequence = commit.sequence
        guard !changes.isEmpty else { return nil }
        scopeVersions[.database] = commit.sequence
        for change in changes {
            for scope in change.path.scopes { scopeVersions[scope] = commit.sequence }
            updateImage(change, decoded: edits[change.path]?.current)
        }
        return commit.sequence
    }

    /// Returns the additions of a commit to the database.
    private func sizeChange(of changes: [CommittedChange], _ edits: [DocumentPath: Edit]) -> CollectionSize {
        changes.reduce(into: .zero) { size, change in
            // A damaged document has an unknown size, and can always be replaced.
            guard let edit = edits[change.path], !edit.isDamaged, !edit.isOfUnknownVersion else { return }
            if let before = images[change.path]?.decoded {
                size.documentCount -= 1
                size.byteCount -= Document.size(of: before.fields, at: change.path)
            }
            if let after = edit.current {
                size.documentCount += 1
                size.byteCount += Document.size(of: after.fields, at: change.path)
            }
        }
    }

    private mutating func updateImage(_ change: CommittedChange, decoded: Document?) {
        let known = images[change.path]
        if known?.isChanged != true { changedPaths.append(change.path) }
        images[change.path] = Image(encoded: change.after, decoded: decoded, isNew: known?.isNew == true, isChanged: true)
    }
}
