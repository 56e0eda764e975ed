internal import DocumentModel
internal import Synchronization

/// Finds in the journal what documents were.
///
/// What is written is indexed as it is written. What was in the journal before is indexed when somebody asks for it, by reading
/// it through on a thread of its own; everybody who waits for the same part shares the result. Indexes of older parts are
/// forgotten when all take too much memory, and made again.
final class History: Sendable {
    private struct State {
        /// Before the part that is written, in order.
        var past: [PastHistoryPart]
        /// The part that is written, and where its frames end.
        var live: (part: HistoryPart, end: Int)?
        var useCount = 0
        /// The oldest segment and the time of its first commit, once it was asked for.
        var oldest: (segment: SequenceNumber, time: Timestamp)?
    }

    private let state: Mutex<State>
    let journal: Journal
    private let opened: (sequence: SequenceNumber, time: Timestamp?)
    private let maximumBytes: Int
    private let thread = WorkQueue(label: "hearth.history", width: 1)

    /// The history in a journal that was opened with `last` as its last commit, whose frame ends at `end` of the last segment.
    init(journal: Journal, last: (sequence: SequenceNumber, time: Timestamp?), end: Int, maximumBytes: Int) {
        self.journal = journal
        self.maximumBytes = maximumBytes
        opened = last
        let segments = journal.segments
        let past = segments.map { segment in
            let isLast = segment == segments.last
            return PastHistoryPart(
                segment: segment,
                range: JournalSegment.headerBytes..<(isLast ? end : .max),
                lastTime: isLast ? last.time : nil
            )
        }
        state = Mutex(State(past: past))
    }

    /// Takes in commits that were written; before their documents become visible, so that whoever sees one finds it here.
    func note(_ commits: [Commit], at place: JournalWriter.Place) {
        state.withLock { state in
            if let live = state.live, live.part.segment != place.segment {
                state.past.append(PastHistoryPart(live.part, end: live.end))
                state.live = nil
                forget(&state)
            }
            var part = state.live?.part ?? HistoryPart(segment: place.segment)
            state.live = nil
            for (commit, offset) in zip(commits, place.offsets) { part.append(commit, offset: offset) }
            state.live = (part, place.end)
        }
    }
}

// MARK: - Reading

extension History {
    /// The parts that there are now, the newest first.
    var parts: [HistoryPart.ID] {
        state.withLock { state in
            prune(&state)
            let live = state.live.map { [$0.part.id] } ?? []
            return live + state.past.reversed().map { $0.id }
        }
    }

    /// A part's index, made if needed; nil when the part is no longer kept.
    func index(of id: HistoryPart.ID) async throws(StatusError) -> HistoryPart? {
        let task: PastHistoryPart.Making
        switch find(id) {
        case .known(let part): return part
        case .building(let running): task = running
        case .unknown: return nil
        }
        let result = await task.value
        finish(id, result)
        return try result.get()
    }

    /// What was committed after `time`, where no journal need be read to know it: so it is for a time that has just been.
    func knownView(after time: Timestamp) -> HistoryView? {
        let known: [HistoryPart]? = state.withLock { state in
            var found: [HistoryPart] = []
            let live = state.live.map { [PastHistoryPart($0.part, end: $0.end)] } ?? []
            for past in live + state.past.reversed() {
                if let last = past.lastTime, last <= time { return found }
                guard case .known(let part) = past.index else { return nil }
                found.append(part)
                if let first = part.frames.first, first.time <= time { return found }
            }
            // Nothing older is kept: so it must not be needed.
            let oldest = journal.oldest ?? opened.sequence.next
            let isWhole = oldest <= SequenceNumber(1) || oldest <= opened.sequence.next && (opened.time ?? .minimum) <= time
            return isWhole ? found : nil
        }
        return known.map { HistoryView(of: $0.reversed(), after: time, in: journal) }
    }

    /// The last commit of a part, where its time is known without reading the journal.
    func lastTime(of id: HistoryPart.ID) -> Timestamp? {
        state.withLock { state in
            if let past = state.past.first(where: { $0.id == id }) { return past.lastTime }
            return state.live?.part.frames.last?.time
        }
    }

    /// What is known of an index, or its making once that has begun.
    private func find(_ id: HistoryPart.ID) -> PastHistoryPart.Index {
        state.withLock { state in
            if let live = state.live?.part, id == live.id { return .known(live) }
            guard let position = state.past.firstIndex(where: { $0.id == id }) else { return .unknown }
            state.useCount += 1
            state.past[position].lastUse = state.useCount
            if case .unknown = state.past[position].index {
                state.past[position].index = .building(build(state.past[position]))
            }
            return state.past[position].index
        }
    }

    /// Not part of the task that asks: others may come to wait for the same.
    private func build(_ part: PastHistoryPart) -> PastHistoryPart.Making {
        let (journal, thread, segment, range) = (journal, thread, part.segment, part.range)
        return Task {
            do throws(StatusError) {
                return .success(
                    try await thread.run { () throws(StatusError) in try journal.historyPart(of: segment, in: range) }
                )
            } catch {
                return .failure(error)
            }
        }
    }

    private func finish(_ id: HistoryPart.ID, _ result: Result<HistoryPart?, StatusError>) {
        state.withLock { state in
            guard let position = state.past.firstIndex(where: { $0.id == id }), case .building = state.past[position].index else {
                return
            }
            switch result {
            case .success(let part?):
                state.past[position].index = .known(part)
                state.past[position].lastTime = part.frames.last?.time ?? state.past[position].lastTime
                forget(&state)
            case .success(nil), .failure:
                state.past[position].index = .unknown
            }
        }
    }

    /// Forgets the indexes that were not asked for longest, while all take too much memory.
    private func forget(_ state: inout State) {
        prune(&state)
        while state.past.reduce(0, { $0 + $1.byteCount }) > maximumBytes {
            let known = state.past.indices.filter { state.past[$0].byteCount > 0 }
            guard let oldest = known.min(by: { state.past[$0].lastUse < state.past[$1].lastUse }) else { return }
            state.past[oldest].index = .unknown
        }
    }

    /// Forgets what the journal does not keep any more.
    private func prune(_ state: inout State) {
        guard let oldest = journal.oldest else { return }
        state.past.removeAll { $0.segment < oldest }
    }
}

// MARK: - How far back

extension History {
    /// Makes sure that all commits after `time` are kept.
    ///
    /// - Throws: `.failedPrecondition` when they are not.
    func checkKept(_ time: Timestamp) async throws(StatusError) {
        var start = knownStart
        if start == nil {
            let thread = thread
            start = .some(try await thread.run { () throws(StatusError) in try self.readStart() })
        }
        guard case .some(.some(let start)) = start, time < start else { return }
        throw StatusError(
            .failedPrecondition,
            "The read time \(time) is too old: the documents' history is kept from \(start) on. Give a later time."
        )
    }

    /// The earliest time whose documents are known, where that needs no reading: nil inside when all are, from the first commit
    /// on.
    private var knownStart: Timestamp?? {
        guard let oldest = journal.oldest, oldest != opened.sequence.next else { return .some(opened.time) }
        if oldest <= SequenceNumber(1) { return .some(nil) }
        let known = state.withLock { $0.oldest }
        return known?.segment == oldest ? .some(known?.time) : nil
    }

    /// The time of the first commit that is kept.
    private func readStart() throws(StatusError) -> Timestamp? {
        while let oldest = journal.oldest {
            // It may have been retired since it was looked up.
            guard var reader = try journal.reader(of: oldest, windowBytes: 16 << 10) else { continue }
            let reading = try reporting("read", Journal.path(first: oldest)) { () throws(SystemError) in try reader.next() }
            guard case .frame(let frame, _) = reading else { throw Journal.damaged(oldest, at: reader.offset) }
            state.withLock { $0.oldest = (oldest, frame.commit.time) }
            return frame.commit.time
        }
        return opened.time
    }
}
