import DocumentModel
import UTF8Text

/// The commits sent to a server and their outcomes, which determine the permitted states of the store after a crash.
///
/// The rules are those of a durable, atomic and strictly ordered store:
///
/// - An acknowledged commit is completely applied, except for documents replaced by later commits.
/// - A rejected commit is not applied.
/// - A commit with unknown outcome, because the server died before it responded, is applied completely or not at all.
/// - Commit times and sequence numbers increase strictly, and commits that did not overlap keep their order.
///
/// Each document contains the number of the commit that wrote it, so that it can be attributed to a commit. After a successful
/// check, ``rebase(_:)`` makes the checked state the new starting point.
struct CommitHistory: Sendable {
    /// An attempted commit.
    struct Attempt: Sendable {
        let writes: [PlannedWrite]
        /// The latest commit time acknowledged before this attempt began. Its own commit time must be later.
        let lowerBound: Timestamp
        var outcome: Outcome
    }

    /// The known outcome of an attempt.
    enum Outcome: Hashable, Sendable {
        /// It was committed at this time.
        case acknowledged(Timestamp)
        /// It was rejected.
        case rejected
        /// It may or may not have been committed.
        case unknown
    }

    /// The acknowledged state of a document, and its time.
    struct CertainState: Hashable, Sendable {
        var version: StoreSnapshot.Version?
        var since: Timestamp
    }

    /// The groups of documents that are only written together.
    let groups: [[DocumentPath]]
    /// The position of the store at the last check; `nil` before the first one.
    private(set) var position: StoreSnapshot.Position?
    /// The documents at the last check.
    private(set) var base: [DocumentPath: StoreSnapshot.Version] = [:]
    /// The attempts since the last check, by number.
    private(set) var attempts: [Int: Attempt] = [:]
    /// The inconsistencies found in responses and watch streams.
    private(set) var inconsistencies: [String] = []
    private var count = 0
    private var latest = Timestamp.minimum

    /// Creates the history of a new store.
    init(groups: [[DocumentPath]] = []) {
        self.groups = groups
    }

    /// The total number of attempts.
    var attemptCount: Int { count }

    /// The number of acknowledged attempts since the last check.
    var acknowledgedCount: Int {
        attempts.values.count { if case .acknowledged = $0.outcome { true } else { false } }
    }
}

// MARK: - Recording

extension CommitHistory {
    /// Records the start of an attempt, with unknown outcome. `plan` receives its number.
    mutating func begin(_ plan: (Int) -> [PlannedWrite]) -> (number: Int, writes: [PlannedWrite]) {
        count += 1
        let writes = plan(count)
        attempts[count] = Attempt(writes: writes, lowerBound: latest, outcome: .unknown)
        return (count, writes)
    }

    /// Records the outcome of an attempt.
    mutating func end(_ number: Int, _ outcome: Outcome) {
        guard let attempt = attempts[number] else { return }
        if case .acknowledged(let time) = outcome {
            if time <= attempt.lowerBound {
                inconsistencies.append("commit \(number) has the time \(time), which is not after \(attempt.lowerBound)")
            }
            latest = max(latest, time)
        }
        switch attempt.outcome {
        case .unknown: attempts[number]?.outcome = outcome
        // Seen by a watcher before the response or the death of the server.
        case .acknowledged(let seen) where outcome == .unknown || outcome == .acknowledged(seen): break
        case .acknowledged, .rejected: inconsistencies.append("commit \(number) changed from \(attempt.outcome) to \(outcome)")
        }
    }

    /// Records that a watcher received a document of a commit or its deletion, which implies that the commit is durable.
    mutating func recordWatched(_ path: DocumentPath, number: Int?, at time: Timestamp) {
        if let number {
            guard let attempt = attempts[number], attempt.writes.contains(where: { $0.path == path && $0.fields != nil }) else {
                inconsistencies.append("a watcher received \(path) with commit \(number), which did not write it")
                return
            }
            confirm(number, at: time)
        } else {
            let candidates = attempts.filter { _, attempt in
                attempt.outcome != .rejected && attempt.writes.contains { $0.path == path && $0.fields == nil }
            }
            let isKnown = candidates.contains { $0.value.outcome == .acknowledged(time) }
            let unknown = candidates.filter { $0.value.outcome == .unknown }
            // With several candidates, the commit cannot be determined.
            if !isKnown, unknown.count == 1, let number = unknown.first?.key { confirm(number, at: time) }
        }
    }

    private mutating func confirm(_ number: Int, at time: Timestamp) {
        switch attempts[number]?.outcome {
        case .unknown: end(number, .acknowledged(time))
        case .acknowledged(time), nil: break
        case .acknowledged(let other):
            inconsistencies.append("a watcher received commit \(number) with the time \(time), the response had \(other)")
        case .rejected: inconsistencies.append("a watcher received commit \(number), which was rejected")
        }
    }

    /// Makes a successfully checked state the new starting point.
    mutating func rebase(_ snapshot: StoreSnapshot) {
        position = snapshot.position
        base = snapshot.documents
        attempts = [:]
        inconsistencies = []
        latest = max(latest, snapshot.position.time ?? .minimum)
    }
}

/// A write of a commit in a ``CommitHistory``.
struct PlannedWrite: Hashable, Sendable {
    let path: DocumentPath
    /// The new fields; `nil` for a deletion.
    let fields: MapValue?

    /// The name of the field with the commit number.
    static let number: UTF8Key = "number"
}

extension MapValue {
    /// The number of the commit that wrote these fields.
    var commitNumber: Int? {
        guard case .integer(let number)? = self[PlannedWrite.number] else { return nil }
        return Int(number)
    }
}
