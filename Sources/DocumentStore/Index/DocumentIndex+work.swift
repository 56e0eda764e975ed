internal import Dispatch
internal import DocumentModel
internal import Logging
internal import StrictJSON
internal import Synchronization

extension DocumentIndex {
    /// Opens the index if need be, and takes in what there is.
    func work() {
        applier.withLock { applier in
            let isTooEarly = state.withLock { state in
                state.isWorkDue = false
                state.isWorkQueued = false
                return state.retryTime.map { .now < $0 } ?? false
            }
            guard !isClosed, !isTooEarly else { return }
            do throws(IndexApplier.Obstacle) {
                if !applier.isOpen { try open(&applier) }
                try catchUp(&applier) { applier, updates throws(IndexApplier.Obstacle) in
                    try applier.apply(updates, onApplied: setApplied)
                }
                try applier.adopt(definitions.withLock { $0.value })
                // Before it is ready: who waits for that waits for what is defined too.
                publish(applier)
                set(.ready)
                let isChanging = try applier.conform()
                if isChanging {
                    publish(applier)
                    reportConforming(applier)
                }
                let isWorkLeft = state.withLock { state in
                    state.failures = 0
                    state.lastFailure = nil
                    state.noSpaceSince = nil
                    state.retryTime = nil
                    return isChanging || !state.queue.isEmpty
                }
                // A commit that came in between has found nobody who would take it in.
                if isWorkLeft { thread.async { self.work() } }
            } catch {
                fail(error, &applier)
            }
        }
    }

    /// Tells everybody how far the documents are from what is defined.
    private func publish(_ applier: borrowing IndexApplier) {
        let conforming = applier.conforming.map { job in
            Conforming(collection: job.collection, documents: job.documents, count: job.count)
        }
        let rules = (applier.rules, conforming)
        let (adopted, isSettled) = (applier.adopted, applier.rules.values.allSatisfy(\.isSettled))
        let waiters = definitions.withLock { definitions in
            state.withLock { state in
                state.rules = rules
                state.isConforming = !isSettled || definitions.value != adopted
                return state.noteChange()
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Tells in the log, where that takes long, how far the documents of a collection are.
    private func reportConforming(_ applier: borrowing IndexApplier) {
        let job = applier.conforming
        let isDue = state.withLock { state in
            let next = state.nextReport
            if let next, next > .now, job != nil { return false }
            state.nextReport = job == nil ? nil : .now + .seconds(5)
            return next != nil
        }
        guard isDue, let job else { return }
        logger.notice(
            "Changing what is indexed",
            metadata: [
                "index.collection": "\(job.collection)", "index.documents": "\(job.documents)", "index.total": "\(job.count)",
            ]
        )
    }

    private var isClosed: Bool {
        state.withLock { state in
            if case .closed = state.phase { return true }
            return false
        }
    }

    private func open(_ applier: inout IndexApplier) throws(IndexApplier.Obstacle) {
        set(.starting)
        let (last, fault) = state.withLock { ($0.last, $0.fault) }
        var reason = if let fault { fault } else { try applier.open(last: last.sequence) }
        if reason == nil, applier.applied < last.sequence, (journal.oldest ?? last.sequence.next) > applier.applied.next {
            reason = "the journal does not reach back to where it ends"
        }
        if let reason { try rebuild(&applier, because: reason) }
        state.withLock { $0.fault = nil }
        setApplied(applier.applied)
    }

    /// Takes in all that there is, from the queue and, where that does not reach, from the journal.
    func catchUp<Target>(
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

    /// Tells everybody which commits are in the index.
    func setApplied(_ sequence: SequenceNumber) {
        let waiters = state.withLock { state in
            state.applied = sequence
            return state.noteChange()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Tells everybody how the index is.
    func set(_ phase: Phase) {
        let waiters = state.withLock { state in
            state.phase = phase
            return state.noteChange()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Gives the index up for a while.
    func fail(_ obstacle: IndexApplier.Obstacle, _ applier: inout IndexApplier) {
        applier.close()
        readers.closeAll()
        if state.withLock({ $0.closing != nil }) { return }
        // What can't be read can be made anew.
        if case .index(let failure) = obstacle, failure.isDamage { try? file.remove() }
        // Without any room SQLite fails in ways that do not tell.
        var isNoSpace = obstacle.isNoSpace
        if case .exhausted? = try? file.room() { isNoSpace = true }
        let status = isNoSpace ? IndexRoom.failure : obstacle.status
        let byteCount = file.byteCount
        let (blocked, delay, isToldAgain) = state.withLock { state in
            defer { state.blocked = nil }
            state.applied = nil
            let isToldAgain = state.lastFailure?.message == status.message
            state.lastFailure = status
            let isRebuilding = if case .rebuilding = state.phase { true } else { false }
            state.noteSpace(isLacking: isNoSpace && !isRebuilding, patience: spacePatience, byteCount: byteCount)
            state.failures += 1
            // Whether there is room again is soon seen; but to make it anew, all documents are read.
            let delay = 1 << min(state.failures, isNoSpace && !isRebuilding ? 2 : 6)
            state.retryTime = .now + .seconds(delay)
            return (state.blocked, delay, isToldAgain)
        }
        logger.log(
            level: isToldAgain ? .debug : .error,
            "The index can't be kept; it is tried again, and documents are read and written without it",
            metadata: ["error": "\(status)", "error.cause": "\(status.cause.map { "\($0)" } ?? "")"]
        )
        set(.failed(status))
        blocked?.signal()
        thread.asyncAfter(deadline: .now() + .seconds(delay) + .milliseconds(10)) { self.work() }
    }
}

extension DocumentIndex.State {
    /// Has an index made anew that has lacked room for too long, and so gives up its own: it holds more than it needs when documents
    /// were deleted, or written and deleted since. One that was made anew, and has hardly grown, does not.
    fileprivate mutating func noteSpace(isLacking: Bool, patience: Duration, byteCount: Int) {
        guard isLacking else {
            noSpaceSince = nil
            return
        }
        let start = noSpaceSince ?? .now
        noSpaceSince = start
        guard .now - start >= patience, byteCount > remadeBytes + remadeBytes / 4 else { return }
        fault = "there was no room to go on with it"
        noSpaceSince = nil
    }
}
