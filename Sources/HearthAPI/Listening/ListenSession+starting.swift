import DocumentModel
import DocumentStore

// Targets whose state has not been sent completely.
extension ListenSession {
    /// Performs the next step of a target.
    nonisolated(nonsending) func advance(_ id: Int32) async throws(StatusError) -> [ListenMessage] {
        guard let target = targets[id] else { return [] }
        do throws(StatusError) {
            switch target.phase {
            case .waiting: return try await start(target)
            case .reading(let state): return try await read(target, state)
            case .resuming(let state, let changes, let sequence): return try await resume(target, state, changes, after: sequence)
            case .live: return []
            }
        } catch {
            return try await recover(id, from: error)
        }
    }

    /// Begins to read a target, once the session has reached the last commit before its request.
    private nonisolated(nonsending) func start(_ waiting: ListenedTarget) async throws(StatusError) -> [ListenMessage] {
        var target = waiting
        let last: StorePosition
        if case .token(let token?)? = target.target.resume, token.belongsToListener(in: position.database) {
            last = try await token.positionAfterCatchUp(of: store)
        } else {
            last = try await store.safePosition()
        }
        if !hasLiveTarget {
            commits = nil
            unappliedCommits = []
            setPosition(last)
        } else if target.barrier == nil {
            targets[target.target.id]?.barrier = last.lastSequence
            return []
        }
        try await target.access?.decide()
        var messages: [ListenMessage] = []
        var token = try await resumeToken(of: target, at: last)
        if let sent = token, let access = target.access, try await !access.isGranted(resumingAfter: sent, at: last) {
            token = nil
        }
        if let token {
            var state = target.resumedState(after: token, at: position)
            try await state.restore(from: store)
            target.phase = .resuming(state, nil, through: token.sequence)
        } else {
            if target.target.resume != nil { messages.append(.reset(target: target.target.id)) }
            target.phase = .reading(target.initialState(at: position))
        }
        targets[target.target.id] = target
        return messages
    }

    /// Returns the token to resume a target after; `nil` if its state has to be sent.
    ///
    /// - Parameter last: The last position of the store.
    private nonisolated(nonsending) func resumeToken(
        of target: ListenedTarget,
        at last: StorePosition
    ) async throws(StatusError) -> ResumeToken? {
        switch target.target.resume {
        case .token(let token?)?:
            guard token.belongsToListener(in: position.database), token.sequence <= position.lastSequence,
                try await token.resetReason(at: last, in: store) == nil
            else { return nil }
            return token
        case .time(let time)?:
            guard try await !store.isInFuture(time), let commit = try await store.lastCommit(notAfter: time, in: last),
                commit.sequence <= position.lastSequence
            else { return nil }
            return ResumeToken(ofListenerAt: commit.sequence, commit.time, epoch: position.epoch, in: position.database)
        case .token(nil)?, nil:
            return nil
        }
    }

    /// Reads the next part of a target's state.
    private nonisolated(nonsending) func read(
        _ reading: ListenedTarget,
        _ readState: ListenedTarget.State
    ) async throws(StatusError) -> [ListenMessage] {
        var state = readState
        let id = reading.target.id
        let (changes, damaged, isComplete) = try await state.read(from: store, at: time)
        var access = reading.access
        // A client that reads slowly gets the last documents long after the first.
        try await access?.decideIfDependent()
        try await access?.decide(changes)
        targets[id]?.access = access
        // Shared by all messages.
        let ids = [id]
        let messages = changes.map { change -> ListenMessage in
            guard let document = change.document else {
                return .deleted(change.path, removedTargets: ids, readTime: missingTime)
            }
            return .changed(document, targets: ids, removedTargets: [])
        }
        targets[id]?.phase = .reading(state)
        // End users are not told that a document is damaged.
        let damage = withholdsOthers ? [] : damaged.map { ListenMessage.damaged(target: id, $0) }
        return recordTimes(of: messages) + damage + (isComplete ? complete(id, state) : [])
    }

    /// Reads the next changes since a target's resume token, and sends them once they are complete.
    private nonisolated(nonsending) func resume(
        _ resuming: ListenedTarget,
        _ resumedState: ListenedTarget.State,
        _ earlier: Commit?,
        after sequence: SequenceNumber
    ) async throws(StatusError) -> [ListenMessage] {
        var sequence = sequence
        var log = store.commits(after: sequence).makeAsyncIterator()
        var relevant: [Commit] = []
        var (readCount, byteCount) = (0, earlier?.contentByteCount ?? 0)
        while sequence < position.lastSequence, readCount < Self.maximumCommitsPerStep {
            guard let commit = try await log.next() else { throw .endOfLog }
            sequence = commit.sequence
            readCount += 1
            guard let changes = resuming.relevantChanges(of: commit) else { continue }
            byteCount += changes.contentByteCount
            relevant.append(changes)
            if byteCount > Self.maximumCoalescedBytes { break }
        }
        let changes = relevant.isEmpty ? earlier : try await resuming.coalescing(earlier, with: relevant, from: store)
        if let changes, changes.isLarger(than: Self.maximumCoalescedBytes) { return reset(resuming.target.id) }
        guard sequence >= position.lastSequence else {
            targets[resuming.target.id]?.phase = .resuming(resumedState, changes, through: sequence)
            return []
        }
        return try await finishResuming(resuming.target, resumedState, changes)
    }

    private nonisolated(nonsending) func finishResuming(
        _ target: ListenTarget,
        _ resumedState: ListenedTarget.State,
        _ changes: Commit?
    ) async throws(StatusError) -> [ListenMessage] {
        var state = resumedState
        var difference = 0
        var merged = ListenChanges()
        // At the position of the session: no commit after the last of the changes has changed the target.
        let commit = Commit(sequence: position.lastSequence, time: time, changes: changes?.changes ?? [])
        var committed = ChangesByPath(commit)
        let netChanges = try await state.apply(commit, from: store)
        var access = targets[target.id]?.access
        try await access?.decideIfDependent()
        try await access?.decide(netChanges)
        targets[target.id]?.access = access
        for change in netChanges {
            switch change.kind {
            case .added: difference += 1
            case .removed, .deleted: difference -= 1
            case .modified: break
            }
            merged.add(change, try await content(after: change, of: target, in: &committed), to: target)
        }
        var messages = recordTimes(of: merged.messages(at: time, withholdsOthers: withholdsOthers))
        if let expected = target.expectedCount {
            let count = try await state.count(in: store, at: time)
            if count != expected + difference {
                if target.isResetOnMismatch { return reset(target.id) }
                messages.append(.filter(target: target.id, count: count, try await paths(of: state)))
            }
        }
        return messages + complete(target.id, state)
    }

    /// Returns the documents in a target; `nil` if there are too many.
    private nonisolated(nonsending) func paths(of state: ListenedTarget.State) async throws(StatusError) -> [DocumentPath]? {
        do throws(StatusError) {
            return try await state.documents(in: store, at: time)
        } catch  where error.code == .resourceExhausted {
            return nil
        }
    }

    /// Makes a target live whose state has been sent.
    private func complete(_ id: Int32, _ state: ListenedTarget.State) -> [ListenMessage] {
        startingTargets.removeAll { $0 == id }
        let isRemoved = targets[id]?.target.isRemovedWhenCurrent == true
        targets[id]?.makeLive(state)
        let messages = [.current(target: id, listenPosition)] + snapshotUnlessReset
        return isRemoved ? messages + [end(id, cause: nil)] : messages
    }

    /// Voids what has been sent for a target, and sends its state as of the position of the session.
    private func reset(_ id: Int32) -> [ListenMessage] {
        guard let target = targets[id] else { return [] }
        targets[id]?.phase = .reading(target.initialState(at: position))
        return [.reset(target: id)]
    }

    /// Continues after an error of a target: with its complete state if it cannot be resumed, without it if a retry of the stream
    /// cannot cure the error.
    private nonisolated(nonsending) func recover(
        _ id: Int32,
        from error: StatusError
    ) async throws(StatusError) -> [ListenMessage] {
        let isHistory = error.code == .outOfRange || error.code == .failedPrecondition
        if isHistory, let target = targets[id], target.isResuming { return reset(id) }
        guard try await !endsTarget(error) else { return [end(id, cause: error)] }
        guard try await store.hasLostHistory(after: position.lastSequence, error) else { throw error.ofStream }
        resetAll()
        return []
    }
}

extension DocumentStore {
    /// Returns the last commit that is not later than a time; `nil` if it is not retained.
    ///
    /// Reads a number of commits that is logarithmic in the number of retained ones.
    fileprivate func lastCommit(notAfter time: Timestamp, in position: StorePosition) async throws(StatusError) -> Commit? {
        var found: Commit?
        var (low, high) = (max(1, position.oldestRetained.rawValue), position.lastSequence.rawValue)
        while low <= high {
            let middle = low + (high - low) / 2
            guard let commit = try await commits(after: SequenceNumber(middle - 1)).firstBatch()?.first else { return nil }
            if commit.time <= time {
                found = commit
                low = middle + 1
            } else {
                high = middle - 1
            }
        }
        return found
    }
}
