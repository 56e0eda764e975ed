import DocumentModel
import DocumentStore

extension WatchReader {
    nonisolated(nonsending) func open() async throws(StatusError) -> [WatchFrame] {
        let position = store.position
        let open = WatchFrame.open(
            epoch: position.epoch,
            sequence: position.lastSequence,
            oldest: position.oldestKept,
            heartbeat: request.heartbeat
        )
        if let token = request.resume, let reason = try await token.obstacle(in: store) {
            return [open, lose(reason)]
        }
        guard let token = request.resume ?? request.tokenForStart(at: position) else {
            begin(at: position)
            return [open]
        }
        progress = WatchProgress(request.target, resumingAfter: token, at: position)
        phase = .resuming
        return [open]
    }

    /// Begins to read the initial state.
    func begin(at position: StorePosition) {
        progress = WatchProgress(request.target, at: position)
        scan = nil
        commits = nil
        phase = .reading
    }

    nonisolated(nonsending) func readPage() async throws(StatusError) -> [WatchFrame] {
        switch progress {
        case .documents(var state):
            let page = try await readDocuments()
            let frames = state.take(page: page.documents, upTo: page.next, at: try await store.settledPosition())
            progress = .documents(state)
            return frames + page.damaged
        case .query(var watch):
            let frames = try await watch.read(from: store)
            progress = .query(watch)
            return frames
        }
    }

    private nonisolated(nonsending) func readDocuments() async throws(StatusError) -> (
        documents: [EncodedDocument], next: DocumentID?, damaged: [WatchFrame]
    ) {
        switch request.target {
        case .document(let path):
            return (try await store.document(at: path).map { [$0] } ?? [], nil, [])
        case .collection(let path):
            var scan = scan ?? CollectionScan(path, after: nil, includingMissing: false, in: store)
            let page = try await scan.next(atMost: Self.pageSize)
            self.scan = scan
            let documents = page.documents.compactMap { entry in
                if case .document(let document) = entry { document } else { nil }
            }
            return (documents, page.next, page.damaged.map { .damaged(DamagedDocument(error: $0)) })
        case .query:
            return ([], nil, [])
        }
    }

    private static let pageSize = 256

    /// Finds what the watcher knows already, where it is needed.
    nonisolated(nonsending) func restore() async throws(StatusError) {
        guard case .query(var watch) = progress else { return }
        try await watch.restore(from: store)
        progress = .query(watch)
    }

    /// Takes the next commit. Nothing when it is of no concern, or when it could not be taken: then it is the next one again.
    nonisolated(nonsending) func takeCommit() async throws(StatusError) -> [WatchFrame] {
        do throws(StatusError) {
            guard let commit = try await nextCommit() else { return [] }
            let completed = try await request.completed(commit, from: store)
            // While the state is read, a page may be as of a commit between those that would be one.
            guard request.coalesces, phase != .reading else { return try await progress.take(completed, from: store) }
            return try await progress.take(try await joined(with: completed), from: store)
        } catch {
            commits = nil
            throw error
        }
    }

    /// Takes the next commit of a live stream, where it is in memory and nothing must be read beside it. Otherwise nil, and nothing
    /// is taken.
    func takeCommitFromMemory() -> [WatchFrame]? {
        guard phase == .live, refusedSince == nil else { return nil }
        var commits = commits ?? store.commits(after: progress.sequence).makeAsyncIterator()
        var joined: [Commit] = []
        repeat {
            guard let commit = commits.nextInMemory() else { break }
            joined.append(commit)
        } while request.coalesces && joined.count < Self.maximumJoined
        guard let commit = joined.count == 1 ? joined[0] : Commit(joining: joined), request.isComplete(commit),
            let frames = try? progress.take(commit)
        else { return nil }
        self.commits = commits
        return frames.isEmpty ? bookmarkInTime : frames
    }

    /// A commit with those behind it that are there already, as if it were one. Each is completed before, because what a document
    /// was before them all is what it was before the first.
    private nonisolated(nonsending) func joined(with commit: Commit) async throws(StatusError) -> Commit {
        var commits = [commit]
        let last = store.position.lastSequence
        while let sequence = commits.last?.sequence, sequence < last, commits.count < Self.maximumJoined,
            let next = try await self.commits?.next()
        {
            commits.append(try await request.completed(next, from: store))
        }
        return Commit(joining: commits) ?? commit
    }

    static let maximumJoined = 256

    /// A checkpoint, when of the log that is kept half has passed without a token: were the connection lost after the rest has
    /// passed too, the client would have to begin anew, though nothing has changed for it.
    var bookmarkInTime: [WatchFrame] {
        let position = store.position
        let passed = progress.sequence.rawValue - min(bookmarkedSequence, progress.sequence).rawValue
        let kept = position.lastSequence.rawValue + 1 - min(position.oldestKept.rawValue, position.lastSequence.rawValue)
        guard case .live = phase, passed >= Self.leastPassed, passed > kept / 2 else { return [] }
        return progress.checkpoint.map { [$0] } ?? []
    }

    /// How many commits may well pass without a token, however few are kept.
    private static let leastPassed = 16

    func note(_ frames: [WatchFrame]) {
        if let sequence = frames.last?.token?.sequence { bookmarkedSequence = sequence }
        guard let limit = request.limit, progress.bookmark != nil else { return }
        for case .change(_, .some) in frames { changeCount += 1 }
        if changeCount >= limit { control.end(.limit) }
    }

    private nonisolated(nonsending) func nextCommit() async throws(StatusError) -> Commit? {
        var commits = commits ?? store.commits(after: progress.sequence).makeAsyncIterator()
        let commit = try await commits.next()
        self.commits = commits
        // The log ends only when the store is closed.
        if commit == nil, !Task.isCancelled { control.end(.shutdown) }
        return commit
    }
}
