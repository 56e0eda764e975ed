import DocumentModel
import StrictJSON

/// What a server was asked to commit and what it answered: says what a store may hold after a crash.
///
/// The rules are those of a durable, atomic and strictly ordered store:
///
/// - A commit that was acknowledged is there whole, until a later one replaces parts of it.
/// - A commit that was refused is not there.
/// - A commit of which nobody knows, because the server died before it answered, is there whole or not at all.
/// - Commit times and sequence numbers only grow, and commits that did not overlap keep their order.
///
/// Commits are told apart by the number in their documents, so what is found can always be laid to one of them. After a
/// check that found nothing wrong, ``adopt(_:)`` takes what was found as the new beginning.
struct CommitHistory: Sendable {
    /// One commit that somebody tried.
    struct Attempt: Sendable {
        let writes: [PlannedWrite]
        /// The time of the latest commit that was acknowledged before this one began: this one must be later.
        let floor: Timestamp
        var outcome: Outcome
    }

    /// What is known of an attempt.
    enum Outcome: Hashable, Sendable {
        /// It counts, and was committed at this time.
        case acknowledged(Timestamp)
        /// It does not count, and never will.
        case refused
        /// It may have been committed or not.
        case unknown
    }

    /// A document that is surely so, since a certain time.
    struct Certain: Hashable, Sendable {
        var version: StoreSnapshot.Version?
        var since: Timestamp
    }

    /// Documents that are only ever written together.
    let groups: [[DocumentPath]]
    /// Where the store stood at the last check; nil before the first.
    private(set) var position: StoreSnapshot.Position?
    /// The documents as of the last check.
    private(set) var base: [DocumentPath: StoreSnapshot.Version] = [:]
    /// What was tried since.
    private(set) var attempts: [Int: Attempt] = [:]
    /// What was seen of the answers themselves that no store may do.
    private(set) var faults: [String] = []
    private var count = 0
    private var latest = Timestamp.minimum

    /// The history of a new store.
    init(groups: [[DocumentPath]] = []) {
        self.groups = groups
    }

    /// How many attempts there have been in all.
    var attemptCount: Int { count }

    /// How many of those since the last check were acknowledged.
    var acknowledgedCount: Int {
        attempts.values.count { if case .acknowledged = $0.outcome { true } else { false } }
    }
}

// MARK: - Recording

extension CommitHistory {
    /// Notes that a commit is about to be sent; until more is known it may happen or not. `plan` is given its number.
    mutating func begin(_ plan: (Int) -> [PlannedWrite]) -> (number: Int, writes: [PlannedWrite]) {
        count += 1
        let writes = plan(count)
        attempts[count] = Attempt(writes: writes, floor: latest, outcome: .unknown)
        return (count, writes)
    }

    /// Notes what the server answered.
    mutating func end(_ number: Int, _ outcome: Outcome) {
        guard let attempt = attempts[number] else { return }
        if case .acknowledged(let time) = outcome {
            if time <= attempt.floor {
                faults.append("commit \(number) was made at \(time), not after \(attempt.floor) before it")
            }
            latest = max(latest, time)
        }
        switch attempt.outcome {
        case .unknown: attempts[number]?.outcome = outcome
        // Seen by a watcher before the server died, or before its answer came.
        case .acknowledged(let seen) where outcome == .unknown || outcome == .acknowledged(seen): break
        case .acknowledged, .refused: faults.append("commit \(number), known as \(attempt.outcome), was answered with \(outcome)")
        }
    }

    /// Notes that a watcher was shown a document of a commit, or its deletion: the commit is durable then.
    mutating func seeInStream(_ path: DocumentPath, number: Int?, at time: Timestamp) {
        if let number {
            guard let attempt = attempts[number], attempt.writes.contains(where: { $0.path == path && $0.fields != nil }) else {
                faults.append("a watcher saw \(path) as commit \(number) did not make it")
                return
            }
            settle(number, at: time)
        } else {
            let candidates = attempts.filter { _, attempt in
                attempt.outcome != .refused && attempt.writes.contains { $0.path == path && $0.fields == nil }
            }
            let isKnown = candidates.contains { $0.value.outcome == .acknowledged(time) }
            let unknown = candidates.filter { $0.value.outcome == .unknown }
            // Of two that may have deleted it nobody can tell which it was.
            if !isKnown, unknown.count == 1, let number = unknown.first?.key { settle(number, at: time) }
        }
    }

    private mutating func settle(_ number: Int, at time: Timestamp) {
        switch attempts[number]?.outcome {
        case .unknown: end(number, .acknowledged(time))
        case .acknowledged(time), nil: break
        case .acknowledged(let other): faults.append("a watcher saw commit \(number) at \(time), its answer said \(other)")
        case .refused: faults.append("a watcher saw commit \(number), which was refused")
        }
    }

    /// Takes what a check has found right as the beginning of what follows.
    mutating func adopt(_ snapshot: StoreSnapshot) {
        position = snapshot.position
        base = snapshot.documents
        attempts = [:]
        faults = []
        latest = max(latest, snapshot.position.time ?? .minimum)
    }
}

/// One write of a commit in a ``CommitHistory``.
struct PlannedWrite: Hashable, Sendable {
    let path: DocumentPath
    /// What the document is afterwards; nil when it is deleted.
    let fields: MapValue?

    /// The field that says which commit wrote a document.
    static let number: UTF8Key = "number"
}

extension MapValue {
    /// The number of the commit that wrote these fields.
    var commitNumber: Int? {
        guard case .integer(let number)? = self[PlannedWrite.number] else { return nil }
        return Int(number)
    }
}
