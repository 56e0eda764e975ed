import DocumentModel
import Testing

/// A checker that finds nothing proves something only if it finds what is wrong.
@Suite("The check of a store after a crash")
struct CommitHistoryTests {
    /// Two documents that are always written together, and two that are not.
    private static let pair = ["pairs/a", "pairs/b"]

    /// A step of a history: a commit that sets documents (or, with a minus, deletes them) and what came of it.
    struct Step: Sendable {
        let writes: [String]
        let outcome: Result

        enum Result: Sendable {
            case acknowledged
            case refused
            case unknown
        }

        init(_ outcome: Result, _ writes: String...) {
            self.writes = writes
            self.outcome = outcome
        }
    }

    /// What a store shows: a document and the number of the commit that wrote it, which is also its time.
    typealias Found = [String: Int]

    private static let acknowledged: [Step] = [.init(.acknowledged, "pairs/a", "pairs/b"), .init(.acknowledged, "x/1")]

    /// Histories and what may be found after them.
    static let right: [(String, [Step], Found)] = [
        ("nothing", [], [:]),
        ("what was acknowledged", acknowledged, ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        (
            "an unknown commit whole", acknowledged + [.init(.unknown, "pairs/a", "pairs/b")],
            ["pairs/a": 3, "pairs/b": 3, "x/1": 2]
        ),
        (
            "an unknown commit not at all", acknowledged + [.init(.unknown, "pairs/a", "pairs/b")],
            ["pairs/a": 1, "pairs/b": 1, "x/1": 2]
        ),
        ("an unknown deletion", acknowledged + [.init(.unknown, "-x/1")], ["pairs/a": 1, "pairs/b": 1]),
        ("a refused commit not", acknowledged + [.init(.refused, "x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        ("an acknowledged deletion", acknowledged + [.init(.acknowledged, "-x/1")], ["pairs/a": 1, "pairs/b": 1]),
        (
            "an unknown commit, of which another unknown one replaced a part",
            acknowledged + [.init(.unknown, "x/1", "x/2"), .init(.unknown, "x/2")],
            ["pairs/a": 1, "pairs/b": 1, "x/1": 3, "x/2": 4]
        ),
    ]

    /// Histories and what must not be found after them.
    static let wrong: [(String, [Step], Found)] = [
        ("a lost commit", acknowledged, ["pairs/a": 1, "pairs/b": 1]),
        ("an older state", acknowledged + [.init(.acknowledged, "x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        ("half an acknowledged commit", acknowledged, ["pairs/a": 1, "x/1": 2]),
        ("half an unknown commit", acknowledged + [.init(.unknown, "x/1", "x/2")], ["pairs/a": 1, "pairs/b": 1, "x/1": 3]),
        ("the other half", acknowledged + [.init(.unknown, "x/1", "x/2")], ["pairs/a": 1, "pairs/b": 1, "x/1": 2, "x/2": 3]),
        ("half a pair", acknowledged + [.init(.unknown, "pairs/a", "pairs/b")], ["pairs/a": 3, "pairs/b": 1, "x/1": 2]),
        (
            "only the deletion of an unknown commit", acknowledged + [.init(.unknown, "-x/1", "x/2")],
            ["pairs/a": 1, "pairs/b": 1]
        ),
        ("a refused commit", acknowledged + [.init(.refused, "x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 3]),
        ("a deleted document", acknowledged + [.init(.acknowledged, "-x/1")], ["pairs/a": 1, "pairs/b": 1, "x/1": 2]),
        ("a document of nobody's", acknowledged, ["pairs/a": 1, "pairs/b": 1, "x/1": 2, "x/2": 2]),
    ]

    @Test(arguments: right.indices) func `finds nothing wrong with what may be`(index: Int) throws {
        let (name, steps, found) = Self.right[index]
        let history = try Self.history(steps)
        #expect(history.violations(in: try Self.snapshot(found, after: steps)) == [], "\(name)")
    }

    @Test(arguments: wrong.indices) func `finds what can't be`(index: Int) throws {
        let (name, steps, found) = Self.wrong[index]
        let history = try Self.history(steps)
        #expect(history.violations(in: try Self.snapshot(found, after: steps)) != [], "\(name)")
    }

    @Test(arguments: [(1, 2), (3, 2), (2, 1), (2, 0)]) func `finds a position that is not that of the commits`(
        sequence: Int64,
        time: Int64
    ) throws {
        let history = try Self.history(Self.acknowledged)
        var snapshot = try Self.snapshot(["pairs/a": 1, "pairs/b": 1, "x/1": 2], after: Self.acknowledged)
        snapshot.position = .init(epoch: "e", sequence: sequence, time: try Timestamp(microseconds: time))
        #expect(history.violations(in: snapshot) != [])
    }

    @Test func `finds another history, and one that went back, after a check`() throws {
        var history = try Self.history(Self.acknowledged)
        let snapshot = try Self.snapshot(["pairs/a": 1, "pairs/b": 1, "x/1": 2], after: Self.acknowledged)
        history.adopt(snapshot)
        #expect(history.violations(in: snapshot) == [])
        var other = snapshot
        other.position = .init(epoch: "other", sequence: 2, time: snapshot.position.time)
        #expect(history.violations(in: other) != [])
        var older = snapshot
        older.position = .init(epoch: "e", sequence: 1, time: snapshot.position.time)
        #expect(history.violations(in: older) != [])
    }

    @Test func `takes what a watcher saw as durable`() throws {
        var history = try Self.history([.init(.unknown, "x/1")])
        history.seeInStream(try DocumentPath("x/1"), number: 1, at: try Timestamp(microseconds: 1))
        #expect(history.violations(in: try Self.snapshot([:], after: [])) != [])
        #expect(history.violations(in: try Self.snapshot(["x/1": 1], after: [.init(.acknowledged, "x/1")])) == [])
    }

    @Test func `finds times that go back`() throws {
        var history = try Self.history(Self.acknowledged)
        let (number, _) = history.begin { _ in [] }
        history.end(number, .acknowledged(try Timestamp(microseconds: 2)))
        #expect(history.faults.count == 1)
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
            case .refused: history.end(number, .refused)
            case .unknown: history.end(number, .unknown)
            }
        }
        return history
    }

    /// A store with these documents, as far on as the last commit of which a trace is found, or that was acknowledged.
    private static func snapshot(_ found: Found, after steps: [Step]) throws -> StoreSnapshot {
        let acknowledged = steps.indices.filter { if case .acknowledged = steps[$0].outcome { true } else { false } }.map {
            $0 + 1
        }
        let counting = Set(found.values).union(acknowledged)
        let documents = try found.map { path, number in
            let time = try Timestamp(microseconds: Int64(number))
            return (try DocumentPath(path), StoreSnapshot.Version(fields: .sample(number: number), updateTime: time))
        }
        return StoreSnapshot(
            documents: Dictionary(uniqueKeysWithValues: documents),
            position: .init(
                epoch: "e",
                sequence: Int64(counting.count),
                time: try counting.max().map { try .init(microseconds: Int64($0)) }
            )
        )
    }
}
