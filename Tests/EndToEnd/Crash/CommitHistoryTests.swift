import DocumentModel
import Testing

/// Tests of the checker itself.
@Suite("Commit history")
struct CommitHistoryTests {
    /// Two documents that are always written together.
    private static let pair = ["pairs/a", "pairs/b"]

    /// A step of a history: a commit that sets documents, or deletes them if prefixed with a minus, and its outcome.
    struct Step: Sendable {
        let writes: [String]
        let outcome: Result

        enum Result: Sendable {
            case acknowledged
            case rejected
            case unknown
        }

        init(_ outcome: Result, _ writes: String...) {
            self.writes = writes
            self.outcome = outcome
        }
    }

    /// The state of a store: documents with the number of the commit that wrote them, which is also their time.
    typealias Found = [String: Int]

    private static let acknowledged: [Step] = [.init(.acknowledged, "pairs/a", "pairs/b"), .init(.acknowledged, "x/1")]

    /// Histories with permitted states.
    static let valid: [(String, [Step], Found)] = [
        ("nothing", [], [:]),
        ("acknowledged commits", acknowledged, ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        (
            "an unknown commit, applied", acknowledged + [.init(.unknown, "pairs/a", "pairs/b")],
            ["pairs/a": 3, "pairs/b": 3, "x/1": 2]
        ),
        (
            "an unknown commit, not applied", acknowledged + [.init(.unknown, "pairs/a", "pairs/b")],
            ["pairs/a": 1, "pairs/b": 1, "x/1": 2]
        ),
        ("an unknown deletion", acknowledged + [.init(.unknown, "-x/1")], ["pairs/a": 1, "pairs/b": 1]),
        ("a rejected commit, not applied", acknowledged + [.init(.rejected, "x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        ("an acknowledged deletion", acknowledged + [.init(.acknowledged, "-x/1")], ["pairs/a": 1, "pairs/b": 1]),
        (
            "an unknown commit, partially replaced by another one",
            acknowledged + [.init(.unknown, "x/1", "x/2"), .init(.unknown, "x/2")],
            ["pairs/a": 1, "pairs/b": 1, "x/1": 3, "x/2": 4]
        ),
    ]

    /// Histories with violations.
    static let invalid: [(String, [Step], Found)] = [
        ("a lost commit", acknowledged, ["pairs/a": 1, "pairs/b": 1]),
        ("an older state", acknowledged + [.init(.acknowledged, "x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        ("half an acknowledged commit", acknowledged, ["pairs/a": 1, "x/1": 2]),
        ("half an unknown commit", acknowledged + [.init(.unknown, "x/1", "x/2")], ["pairs/a": 1, "pairs/b": 1, "x/1": 3]),
        (
            "the other half of an unknown commit", acknowledged + [.init(.unknown, "x/1", "x/2")],
            ["pairs/a": 1, "pairs/b": 1, "x/1": 2, "x/2": 3]
        ),
        ("half a pair", acknowledged + [.init(.unknown, "pairs/a", "pairs/b")], ["pairs/a": 3, "pairs/b": 1, "x/1": 2]),
        (
            "only the deletion of an unknown commit", acknowledged + [.init(.unknown, "-x/1", "x/2")],
            ["pairs/a": 1, "pairs/b": 1]
        ),
        ("a rejected commit, applied", acknowledged + [.init(.rejected, "x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 3]),
        ("a deleted document", acknowledged + [.init(.acknowledged, "-x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        ("a document that was never written", acknowledged, ["pairs/a": 1, "pairs/b": 1, "x/1": 2, "x/2": 2]),
    ]

    @Test(arguments: valid.indices) func `Accepts permitted states`(index: Int) throws {
        let (name, steps, found) = Self.valid[index]
        let history = try Self.history(steps)
        #expect(history.violations(in: try Self.snapshot(found, after: steps)) == [], "\(name)")
    }

    @Test(arguments: invalid.indices) func `Detects violations`(index: Int) throws {
        let (name, steps, found) = Self.invalid[index]
        let history = try Self.history(steps)
        #expect(history.violations(in: try Self.snapshot(found, after: steps)) != [], "\(name)")
    }

    @Test(arguments: [(1, 2), (3, 2), (2, 1), (2, 0)]) func `Detects an inconsistent position`(
        sequence: Int64,
        time: Int64
    ) throws {
        let history = try Self.history(Self.acknowledged)
        var snapshot = try Self.snapshot(["pairs/a": 1, "pairs/b": 1, "x/1": 2], after: Self.acknowledged)
        snapshot.position = .init(epoch: "e", sequence: sequence, time: try Timestamp(microseconds: time))
        #expect(history.violations(in: snapshot) != [])
    }

    @Test func `Detects a changed epoch and a lower sequence number`() throws {
        var history = try Self.history(Self.acknowledged)
        let snapshot = try Self.snapshot(["pairs/a": 1, "pairs/b": 1, "x/1": 2], after: Self.acknowledged)
        history.rebase(snapshot)
        #expect(history.violations(in: snapshot) == [])
        var other = snapshot
        other.position = .init(epoch: "other", sequence: 2, time: snapshot.position.time)
        #expect(history.violations(in: other) != [])
        var older = snapshot
        older.position = .init(epoch: "e", sequence: 1, time: snapshot.position.time)
        #expect(history.violations(in: older) != [])
    }

    @Test func `Treats watched commits as durable`() throws {
        var history = try Self.history([.init(.unknown, "x/1")])
        history.recordWatched(try DocumentPath("x/1"), number: 1, at: try Timestamp(microseconds: 1))
        #expect(history.violations(in: try Self.snapshot([:], after: [])) != [])
        #expect(history.violations(in: try Self.snapshot(["x/1": 1], after: [.init(.acknowledged, "x/1")])) == [])
    }

    @Test func `Detects decreasing commit times`() throws {
        var history = try Self.history(Self.acknowledged)
        let (number, _) = history.begin { _ in [] }
        history.end(number, .acknowledged(try Timestamp(microseconds: 2)))
        #expect(history.inconsistencies.count == 1)
    }

    private static func history(_ steps: [Step]) throws -> CommitHistory {
        var history = CommitHistory(groups: [try pair.map { try DocumentPath($0) }])
        for step in steps {
            let writes = try step.writes.map { write in
                let isDeletion = write.hasPrefix("-")
                return (path: try DocumentPath(isDeletion ? String(write.dropFirst()) : write), isDeletion: isDeletion)
            }
            let (number, _) = history.begin { number in
                writes.map { PlannedWrite(path: $0.path, fields: $0.isDeletion ? nil : .sample(number: number)) }
            }
            switch step.outcome {
            case .acknowledged: history.end(number, .acknowledged(try Timestamp(microseconds: Int64(number))))
            case .rejected: history.end(number, .rejected)
            case .unknown: history.end(number, .unknown)
            }
        }
        return history
    }

    /// Creates a snapshot with the documents, at the position of the last commit that was applied or acknowledged.
    private static func snapshot(_ found: Found, after steps: [Step]) throws -> StoreSnapshot {
        let acknowledged = steps.indices.filter { if case .acknowledged = steps[$0].outcome { true } else { false } }.map {
            $0 + 1
        }
        let applied = Set(found.values).union(acknowledged)
        let documents = try found.map { path, number in
            let time = try Timestamp(microseconds: Int64(number))
            return (try DocumentPath(path), StoreSnapshot.Version(fields: .sample(number: number), updateTime: time))
        }
        return StoreSnapshot(
            documents: Dictionary(uniqueKeysWithValues: documents),
            position: .init(
                epoch: "e",
                sequence: Int64(applied.count),
                time: try applied.max().map { try .init(microseconds: Int64($0)) }
            )
        )
    }
}
