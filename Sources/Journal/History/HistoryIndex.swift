internal import Concurrency
package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import Synchronization

/// An in-memory index of the journal's changes by document, for point-in-time reads and version histories.
///
/// Appended commits are indexed immediately. Older segments are indexed on first use, by reading them on the index's own thread;
/// concurrent callers share one build. When the indexes exceed their memory limit, the least recently used are evicted.
package final class HistoryIndex: Sendable {
    private struct State {
        /// The indexes of the segments before the active one, in order.
        var sealed: [SealedSegmentIndex]
        /// The index of the segment being appended to, and the end of its records.
        var active: (index: SegmentIndex, end: Int)?
        var useCount = 0
        /// The oldest segment and the time of its first commit, once looked up.
        var oldest: (segment: SequenceNumber, time: Timestamp)?
    }

    private let state: Mutex<State>
    let subtrees = ChangedSubtreesCache()
    package let journal: Journal
    /// The commits that were read last.
    private let records: JournalRecordCache
    /// The last commit when the journal was opened.
    private let opened: (sequence: SequenceNumber, time: Timestamp?)
    private let maximumBytes: Int
    private let queue = WorkQueue(label: "hearth.history", width: 1)

    /// - Parameters:
    ///   - last: The last commit in the journal.
    ///   - end: The end of its record, in the last segment.
    ///   - maximumBytes: The memory limit for the indexes of sealed segments. The commits that were read last take up to a quarter of it
    ///     in addition.
    package init(journal: Journal, last: (sequence: SequenceNumber, time: Timestamp?), end: Int, maximumBytes: Int) {
        self.journal = journal
        self.maximumBytes = maximumBytes
        records = JournalRecordCache(maximumBytes: maximumBytes / 4)
        opened = last
        let segments = journal.segments
        let sealed = segments.map { segment in
            let isLast = segment == segments.last
            return SealedSegmentIndex(
                segment: segment,
                range: JournalSegment.headerBytes..<(isLast ? end : .max),
                lastTime: isLast ? last.time : nil
            )
        }
        state = Mutex(State(sealed: sealed))
    }

    /// Indexes appended commits.
    ///
    /// Called before their documents become visible, so that every commit a reader can see is indexed.
    package func append(_ commits: [Commit], at batch: JournalWriter.AppendedBatch) {
        state.withLock { state in
            if let active = state.active, active.index.segment != batch.segment {
                state.sealed.append(SealedSegmentIndex(active.index, end: active.end))
                state.active = nil
                evict(&state)
            }
            var index = state.active?.index ?? SegmentIndex(segment: batch.segment)
            state.active = nil
            for (commit, offset) in zip(commits, batch.offsets) { index.append(commit, offset: offset) }
            state.active = (index, batch.end)
        }
    }
}

// MARK: - Memory

extension HistoryIndex {
    /// Empties the cache of commits. The indexes of segments stay.
    package func releaseMemory() {
        records.removeAll()
    }

    /// Returns a reader of the journal's records.
    func makeReader() -> JournalRecordReader {
        JournalRecordReader(journal, records)
    }
}

// MARK: - Lookup

extension HistoryIndex {
    /// The IDs of all segment indexes, newest first.
    package var segmentIDs: [SegmentIndex.ID] {
        state.withLock { state in
            removeExpired(&state)
            let active = state.active.map { [$0.index.id] } ?? []
            return active + state.sealed.reversed().map { $0.id }
        }
    }

    /// Returns a segment's index, building it if needed; `nil` if the segment is no longer retained.
    package func index(of id: SegmentIndex.ID) async throws(StatusError) -> SegmentIndex? {
        let task: SealedSegmentIndex.BuildTask
        switch find(id) {
        case .ready(let index): return index
        case .building(let running): task = running
        case .absent: return nil
        }
        let result = await task.value
        finishBuild(of: id, result)
        return try result.get()
    }

    /// Returns a view of the commits after `time`, building indexes and reading the journal as needed.
    ///
    /// - Throws: `.failedPrecondition` when not all of these commits are retained.
    package func view(after time: Timestamp) async throws(StatusError) -> PointInTimeView {
        try await checkRetained(time)
        var found: [SegmentIndex] = []
        for id in segmentIDs {
            if let last = lastTime(of: id), last <= time { break }
            guard let index = try await index(of: id) else {
                // The segment was removed since the lookup.
                try await checkRetained(time)
                guard !journal.segments.contains(id.segment) else { throw Journal.missing(id.segment) }
                break
            }
            found.append(index)
            if let first = index.records.first, first.time <= time { break }
        }
        return PointInTimeView(of: found.reversed(), after: time, in: self)
    }

    /// Returns a view of the commits after `time` if that requires no journal read, as is the case for a recent time; otherwise
    /// `nil`.
    package func cachedView(after time: Timestamp) -> PointInTimeView? {
        let indexes: [SegmentIndex]? = state.withLock { state in
            var found: [SegmentIndex] = []
            let active = state.active.map { [SealedSegmentIndex($0.index, end: $0.end)] } ?? []
            for sealed in active + state.sealed.reversed() {
                if let last = sealed.lastTime, last <= time { return found }
                guard case .ready(let index) = sealed.state else { return nil }
                found.append(index)
                if let first = index.records.first, first.time <= time { return found }
            }
            // Older commits are not retained, so the view is complete only if none of them is after the time.
            let oldest = journal.oldest ?? opened.sequence.next
            let isComplete = oldest <= SequenceNumber(1) || oldest <= opened.sequence.next && (opened.time ?? .minimum) <= time
            return isComplete ? found : nil
        }
        return indexes.map { PointInTimeView(of: $0.reversed(), after: time, in: self) }
    }

    /// Returns the time of a segment's last commit; `nil` if it is not known without reading the journal.
    package func lastTime(of id: SegmentIndex.ID) -> Timestamp? {
        state.withLock { state in
            if let sealed = state.sealed.first(where: { $0.id == id }) { return sealed.lastTime }
            return state.active?.index.records.last?.time
        }
    }

    /// Returns the state of a segment's index, starting to build an absent one; `.absent` when the segment is not retained.
    private func find(_ id: SegmentIndex.ID) -> SealedSegmentIndex.State {
        state.withLock { state in
            if let active = state.active?.index, id == active.id { return .ready(active) }
            guard let position = state.sealed.firstIndex(where: { $0.id == id }) else { return .absent }
            state.useCount += 1
            state.sealed[position].lastUse = state.useCount
            if case .absent = state.sealed[position].state {
                state.sealed[position].state = .building(build(state.sealed[position]))
            }
            return state.sealed[position].state
        }
    }

    /// Starts a build. An unstructured task, because several callers may wait for it, none of whose time limits holds.
    private func build(_ sealed: SealedSegmentIndex) -> SealedSegmentIndex.BuildTask {
        let (journal, queue, segment, range) = (journal, queue, sealed.segment, sealed.range)
        return CallAdmission.$current.withValue(nil) {
            Task {
                do throws(StatusError) {
                    return .success(
                        try await queue.run { () throws(StatusError) in try journal.segmentIndex(of: segment, in: range) }
                    )
                } catch {
                    return .failure(error)
                }
            }
        }
    }

    private func finishBuild(of id: SegmentIndex.ID, _ result: Result<SegmentIndex?, StatusError>) {
        state.withLock { state in
            guard let position = state.sealed.firstIndex(where: { $0.id == id }),
                case .building = state.sealed[position].state
            else { return }
            switch result {
            case .success(let index?):
                state.sealed[position].state = .ready(index)
                state.sealed[position].lastTime = index.records.last?.time ?? state.sealed[position].lastTime
                evict(&state)
            case .success(nil), .failure:
                state.sealed[position].state = .absent
            }
        }
    }

    /// Evicts the least recently used indexes while the indexes together exceed the memory limit.
    private func evict(_ state: inout State) {
        removeExpired(&state)
        while state.sealed.reduce(0, { $0 + $1.byteCount }) > maximumBytes {
            let ready = state.sealed.indices.filter { state.sealed[$0].byteCount > 0 }
            guard let oldest = ready.min(by: { state.sealed[$0].lastUse < state.sealed[$1].lastUse }) else { return }
            state.sealed[oldest].state = .absent
        }
    }

    /// Removes the indexes of segments that are no longer retained.
    private func removeExpired(_ state: inout State) {
        guard let oldest = journal.oldest else { return }
        state.sealed.removeAll { $0.segment < oldest }
    }
}

// MARK: - Retention

extension HistoryIndex {
    /// Checks that all commits after `time` are retained.
    ///
    /// - Throws: `.failedPrecondition` when they are not.
    func checkRetained(_ time: Timestamp) async throws(StatusError) {
        var start = knownStart
        if start == nil {
            let queue = queue
            start = .some(try await queue.run { () throws(StatusError) in try self.readStart() })
        }
        guard case .some(.some(let start)) = start, time < start else { return }
        throw StatusError(
            .failedPrecondition,
            "The read time \(time) is too old: the history of documents begins at \(start). Use a later read time."
        )
    }

    /// The earliest readable time; `nil` if determining it needs a journal read. The inner value is `nil` if every time is
    /// readable, because the journal begins with the first commit.
    private var knownStart: Timestamp?? {
        guard let oldest = journal.oldest, oldest != opened.sequence.next else { return .some(opened.time) }
        if oldest <= SequenceNumber(1) { return .some(nil) }
        let known = state.withLock { $0.oldest }
        return known?.segment == oldest ? .some(known?.time) : nil
    }

    /// Reads the time of the oldest retained commit.
    ///
    /// - Throws: `.dataLoss` when its segment is damaged, or when another program has removed it.
    private func readStart() throws(StatusError) -> Timestamp? {
        while let oldest = journal.oldest {
            guard var reader = try journal.reader(of: oldest, windowBytes: 16 << 10) else {
                // Retention removes a segment from the list before its file.
                guard journal.oldest != oldest else { throw Journal.missing(oldest) }
                continue
            }
            let result = try reporting("read", Journal.path(first: oldest)) { () throws(FileSystemError) in try reader.next() }
            guard case .record(let record, _) = result else { throw Journal.damaged(oldest, at: reader.offset) }
            state.withLock { $0.oldest = (oldest, record.commit.time) }
            return record.commit.time
        }
        return opened.time
    }
}
