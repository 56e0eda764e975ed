internal import Dispatch
internal import DocumentModel
internal import Logging
internal import Synchronization

/// The index of all documents by their fields: a derived database that follows the commits at a short distance.
///
/// Commits are put into a queue as they are made, and taken in on a thread of the index's own, all that wait in one transaction.
/// While nobody waits for the index it lets some gather, since many documents together cost a third each of what one costs.
/// ``waitUntilApplied(_:)`` is what makes a query see every commit that was acknowledged before it. Where the queue does not
/// reach, after a start or a fault, the journal has the commits; where that does not, the index is made anew from the files.
///
/// A fault of the index is none of the documents': they are read and written on, the index is tried again, and queries are
/// told.
final class DocumentIndex: Sendable {
    /// How the index is.
    enum Phase: Sendable {
        /// It is being opened, or takes in what the journal has.
        case starting
        /// It is being made anew; so many documents are in it.
        case rebuilding(documents: Int)
        /// It follows the commits.
        case ready
        /// It can't be used now; it is tried again.
        case failed(StatusError)
        /// The store is closed.
        case closed
    }

    private struct State {
        var phase = Phase.starting
        /// What waits to be taken in.
        var queue: [IndexUpdate] = []
        var queuedBytes = 0
        /// The last commit that was made known.
        var last: (sequence: SequenceNumber, time: Timestamp?)
        var applied: SequenceNumber?
        var isWorkDue = false
        /// Whether the index that is there is not to be used.
        var isRemade: Bool
        /// When the store began to be closed.
        var closing: ContinuousClock.Instant?
        /// The committer, while it waits for the queue to become shorter.
        var blocked: DispatchSemaphore?
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var waiterCount: UInt64 = 0
        /// How often in a row it could not be used.
        var failures = 0
        /// Counts the changes of the phase and of what is applied.
        var changes = 0

        mutating func noteChange() -> [CheckedContinuation<Void, Never>] {
            changes += 1
            defer { waiters.removeAll() }
            return waiters.values.map { $0 }
        }
    }

    private let state: Mutex<State>
    private let applier: Mutex<IndexApplier>
    private let thread = DispatchQueue(label: "hearth.index")
    private let readers: IndexReaders
    private let data: DataFolder
    private let journal: Journal
    private let uninstalled: UninstalledDocuments
    private let logger: Logger

    /// The index of an open data folder; nothing is done before ``start()``.
    ///
    /// - Parameter last: The last commit.
    init(
        _ data: DataFolder,
        folder: String,
        isRemade: Bool,
        journal: Journal,
        last: (sequence: SequenceNumber, time: Timestamp?),
        uninstalled: UninstalledDocuments,
        logger: Logger
    ) {
        let file = IndexFile(data, folder: folder)
        state = Mutex(State(last: last, isRemade: isRemade))
        applier = Mutex(IndexApplier(file: file, epoch: journal.epoch, logger: logger))
        readers = IndexReaders(file)
        self.data = data
        self.journal = journal
        self.uninstalled = uninstalled
        self.logger = logger
    }

    /// How the index is now.
    var phase: Phase { state.withLock { $0.phase } }

    /// Begins to open the index in the background.
    func start() {
        thread.async { self.work() }
    }
}

// MARK: - Commits

extension DocumentIndex {
    /// How much may gather while nobody waits for it.
    private static let gatheredBytes = 4 << 20
    /// How much may wait before the committer does.
    private static let queuedBytes = 16 << 20
    /// How long closing waits for an index that is being made.
    private static let closingTime = Duration.seconds(2)
    /// How long commits may gather.
    private static let gatheringTime = DispatchTimeInterval.milliseconds(250)

    /// Makes commits known that follow those before; their documents' files are in place.
    func add(_ update: IndexUpdate) {
        let isUrgent: Bool? = state.withLock { state in
            guard case .closed = state.phase else {
                state.last = (update.last, update.time)
                state.queue.append(update)
                state.queuedBytes += update.byteCount
                if state.queuedBytes > Self.queuedBytes, !state.phase.takesCommits {
                    // The journal has them.
                    state.queue = []
                    state.queuedBytes = 0
                }
                guard case .ready = state.phase else { return nil }
                let isUrgent = !state.waiters.isEmpty || state.queuedBytes >= Self.gatheredBytes
                guard isUrgent || !state.isWorkDue else { return nil }
                state.isWorkDue = true
                return isUrgent
            }
            return nil
        }
        switch isUrgent {
        case true?: thread.async { self.work() }
        case false?: thread.asyncAfter(deadline: .now() + Self.gatheringTime) { self.work() }
        case nil: break
        }
    }

    /// Blocks the committer's thread while too much waits, so that the index never lags far behind.
    func waitForRoom() {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard state.queuedBytes > Self.queuedBytes, state.phase.takesCommits, state.closing == nil else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.blocked = semaphore
            return semaphore
        }
        semaphore?.wait()
    }

    /// Returns when a commit, and all before it, are in the index.
    ///
    /// - Throws: `.unavailable` when the index can't be used, or is being made anew and that takes long; `.cancelled` when the task
    ///   is cancelled.
    func waitUntilApplied(_ sequence: SequenceNumber) async throws(StatusError) {
        let deadline = ContinuousClock.now + .seconds(10)
        while true {
            let (phase, applied, changes) = state.withLock { ($0.phase, $0.applied, $0.changes) }
            switch phase {
            case .ready: if let applied, applied >= sequence { return }
            case .closed: throw Self.closed
            case .failed(let error): throw error
            case .starting, .rebuilding:
                guard ContinuousClock.now < deadline else { throw phase.notReady }
            }
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The task was cancelled.") }
            await waitForChange(after: changes)
        }
    }

    /// Returns when the index is complete, however long that takes.
    ///
    /// - Parameter onProgress: Called now and then, while the index is made anew, with the number of documents in it.
    func waitUntilReady(onProgress: (Int) -> Void) async throws(StatusError) {
        while true {
            let (phase, changes) = state.withLock { ($0.phase, $0.changes) }
            switch phase {
            case .ready: return
            case .closed: throw Self.closed
            case .failed(let error): throw error
            case .rebuilding(let documents): onProgress(documents)
            case .starting: break
            }
            await waitForChange(after: changes)
        }
    }

    private static let closed = StatusError(.unavailable, "Hearth is stopping.")

    /// Returns when there have been more changes than that, or after a second.
    private func waitForChange(after changes: Int) async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if Task.isCancelled || state.changes > changes { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isDone { return continuation.resume() }
                thread.async { self.work() }
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { self.wake(id) }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
}

// MARK: - Reading

extension DocumentIndex {
    /// Runs `body` with a snapshot of the index that has at least the commits up to `sequence`, on a thread for such work.
    ///
    /// Cancelling the task ends what the snapshot is doing, with `.cancelled`.
    func read<Result: Sendable>(
        atLeast sequence: SequenceNumber,
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await waitUntilApplied(sequence)
        do throws(StatusError) {
            return try await readers.read(body)
        } catch {
            if let failure = error.cause as? IndexFailure, failure.isDamage { remake(because: failure) }
            throw error
        }
    }

    /// Makes the index anew, since a reader found it damaged.
    private func remake(because failure: IndexFailure) {
        thread.async {
            let isBegun = self.state.withLock { state in
                guard case .ready = state.phase, state.closing == nil else { return false }
                return true
            }
            guard isBegun else { return }
            self.applier.withLock { self.fail(.index(failure), &$0) }
        }
    }
}

// MARK: - The index's thread

extension DocumentIndex {
    private func work() {
        applier.withLock { applier in
            state.withLock { $0.isWorkDue = false }
            guard !isClosed else { return }
            do throws(IndexApplier.Obstacle) {
                if !applier.isOpen { try open(&applier) }
                try catchUp(&applier) { applier, updates throws(IndexApplier.Obstacle) in
                    try applier.apply(updates)
                    setApplied(applier.applied)
                }
                set(.ready)
                let isWorkLeft = state.withLock { state in
                    state.failures = 0
                    return !state.queue.isEmpty
                }
                // A commit that came in between has found nobody who would take it in.
                if isWorkLeft { thread.async { self.work() } }
            } catch {
                fail(error, &applier)
            }
        }
    }

    private var isClosed: Bool {
        state.withLock { state in
            if case .closed = state.phase { return true }
            return false
        }
    }

    private func open(_ applier: inout IndexApplier) throws(IndexApplier.Obstacle) {
        set(.starting)
        let (last, isRemade) = state.withLock { ($0.last, $0.isRemade) }
        var reason = isRemade ? "that is wanted" : try applier.open(last: last.sequence)
        if reason == nil, applier.applied < last.sequence, (journal.oldest ?? last.sequence.next) > applier.applied.next {
            reason = "the journal does not reach back to where it ends"
        }
        if let reason { try rebuild(&applier, because: reason) }
        state.withLock { $0.isRemade = false }
        setApplied(applier.applied)
    }

    /// Takes in all that there is, from the queue and, where that does not reach, from the journal.
    private func catchUp<Target>(
        _ target: inout Target,
        from applied: (Target) -> SequenceNumber,
        _ apply: (inout Target, [IndexUpdate]) throws(IndexApplier.Obstacle) -> Void
    ) throws(IndexApplier.Obstacle) {
        while true {
            let (queue, last) = takeQueue()
            let updates = queue.drop { $0.last <= applied(target) }
            let end = updates.first?.first ?? last.next
            while applied(target).next < end {
                let position = applied(target)
                let update = try IndexApplier.folder { () throws(StatusError) in
                    try IndexUpdate(journal.commits(after: position, through: SequenceNumber(end.rawValue - 1)))
                }
                if let update { try apply(&target, [update]) }
            }
            if updates.isEmpty { return }
            try apply(&target, Array(updates))
        }
    }

    private func catchUp(
        _ applier: inout IndexApplier,
        _ apply: (inout IndexApplier, [IndexUpdate]) throws(IndexApplier.Obstacle) -> Void
    ) throws(IndexApplier.Obstacle) {
        try catchUp(&applier, from: \.applied, apply)
    }

    private func takeQueue() -> (queue: [IndexUpdate], last: SequenceNumber) {
        let (queue, last, blocked) = state.withLock { state in
            defer {
                state.queue = []
                state.queuedBytes = 0
                state.blocked = nil
            }
            return (state.queue, state.last.sequence, state.blocked)
        }
        blocked?.signal()
        return (queue, last)
    }

    private func setApplied(_ sequence: SequenceNumber) {
        let waiters = state.withLock { state in
            state.applied = sequence
            return state.noteChange()
        }
        for waiter in waiters { waiter.resume() }
    }

    private func set(_ phase: Phase) {
        let waiters = state.withLock { state in
            state.phase = phase
            return state.noteChange()
        }
        for waiter in waiters { waiter.resume() }
    }

    private func fail(_ obstacle: IndexApplier.Obstacle, _ applier: inout IndexApplier) {
        applier.close()
        readers.closeAll()
        if state.withLock({ $0.closing != nil }) { return }
        let status: StatusError
        switch obstacle {
        case .folder(let error): status = error
        case .index(let failure):
            status = failure.status
            // What can't be read can be made anew.
            if failure.isDamage { try? applier.file.remove() }
        }
        logger.error(
            "The index can't be kept; it is tried again, and documents are read and written without it",
            metadata: ["error": "\(status)", "error.cause": "\(status.cause.map { "\($0)" } ?? "")"]
        )
        let (blocked, failures) = state.withLock { state in
            defer { state.blocked = nil }
            state.applied = nil
            state.failures += 1
            return (state.blocked, state.failures)
        }
        set(.failed(status))
        blocked?.signal()
        thread.asyncAfter(deadline: .now() + .seconds(1 << min(failures, 6))) { self.work() }
    }
}

// MARK: - Making anew

extension DocumentIndex {
    private func rebuild(_ applier: inout IndexApplier, because reason: String) throws(IndexApplier.Obstacle) {
        let start = state.withLock { $0.last }
        set(.rebuilding(documents: 0))
        readers.closeAll()
        let scan = DocumentScan(data, position: { self.state.withLock { $0.last.sequence } }, logger: logger)
        defer { scan.cancel() }
        let clock = ContinuousClock()
        let begin = clock.now
        var count = 0
        var nextReport = begin + .seconds(5)
        try applier.rebuild(from: start) { filling throws(IndexApplier.Obstacle) in
            while let batch = try IndexApplier.folder({ () throws(StatusError) in try scan.next() }) {
                // An index that is nearly made is worth waiting for.
                if let closing = state.withLock({ $0.closing }), clock.now - closing > Self.closingTime {
                    throw .folder(Self.closed)
                }
                try catchUp(&filling)
                try IndexApplier.index { () throws(IndexFailure) in try filling.add(batch) }
                count += batch.documents.count
                set(.rebuilding(documents: count))
                if clock.now >= nextReport {
                    nextReport = clock.now + .seconds(5)
                    logger.notice("Making the index", metadata: ["index.documents": "\(count)"])
                }
            }
            try catchUp(&filling)
            try filling.add(uninstalled.all)
        }
        guard count > 0 else { return }
        logger.notice(
            "Made the index anew",
            metadata: ["index.documents": "\(count)", "index.reason": "\(reason)", "index.duration": "\(clock.now - begin)"]
        )
    }

    private func catchUp(_ filling: inout IndexApplier.Filling) throws(IndexApplier.Obstacle) {
        try catchUp(&filling, from: \.last.sequence) { filling, updates throws(IndexApplier.Obstacle) in
            try IndexApplier.index { () throws(IndexFailure) in try filling.apply(updates) }
        }
    }
}

// MARK: - Ending

extension DocumentIndex {
    /// Takes in what there is and ends; true when the index is complete and on disk.
    ///
    /// Blocks; nothing is added any more.
    func close() -> Bool {
        let blocked = state.withLock { state in
            state.closing = .now
            return state.blocked
        }
        blocked?.signal()
        readers.close()
        return thread.sync {
            if case .ready = phase { work() }
            let isComplete = applier.withLock { applier in
                guard case .ready = phase else {
                    applier.close()
                    return false
                }
                return applier.finish()
            }
            set(.closed)
            return isComplete
        }
    }
}

extension DocumentIndex.Phase {
    /// Whether commits that wait are taken in soon.
    fileprivate var takesCommits: Bool {
        switch self {
        case .ready, .rebuilding: true
        case .starting, .failed, .closed: false
        }
    }

    /// The error for a query that has waited long enough.
    fileprivate var notReady: StatusError {
        var done = "It is being brought up to date."
        if case .rebuilding(let documents) = self { done = "It is being made anew, and \(documents) documents are in it." }
        return StatusError(
            .unavailable,
            "The index, which queries need, is not ready yet. \(done) Try again later; documents can be read and written meanwhile."
        )
    }
}
