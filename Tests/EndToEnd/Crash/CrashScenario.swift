import DocumentModel
import Foundation
import HearthClient
import TestSupport

/// A short life of a server, always the same, in which everything happens that changes files.
struct CrashScenario: Sendable, CustomStringConvertible {
    /// What the life is about.
    let description: String
    /// The lives that the folder had before.
    private let before: [CrashScenario]
    private let commits: [Plan]
    /// How the life ends.
    private let ending: Int32
    /// Whether the journal that is there has become old enough to be removed.
    private var isJournalOld = false
    /// The beginning of the call without which the life is not what it is meant to be.
    private(set) var purpose = "rename documents/"

    private typealias Plan = @Sendable (Int) -> [PlannedWrite]

    private init(_ description: String, after before: [CrashScenario] = [], commits: [Plan], ending: Int32 = SIGTERM) {
        self.description = description
        self.before = before
        self.commits = commits
        self.ending = ending
    }

    /// Documents that are only ever written together.
    static let group = ["accounts/a", "ledgers/l", "accounts/a/entries/last"]

    /// The IDs of collections, one at the top and a nested one, of which more and less is indexed than of others.
    private static let indexedCollections = ["colors", "entries"]

    /// Creations, several documents at a time, overwriting, deleting, documents below documents, IDs that are longer than a
    /// file name.
    static let new = CrashScenario(
        "a new folder",
        commits: [
            sets("colors/red"),
            sets("colors/green"),
            sets(group),
            sets("colors/red"),
            sets("books/b1/reviews/r1/votes/v1"),
            deletes(["colors/green"]),
            sets("colors/\(long)/shades/dark"),
            deletes(["books/b1/reviews/r1/votes/v1"]),
            { number in sets("colors/blue")(number) + deletes(["colors/red"])(number) },
        ]
    )

    /// The same folder, which was closed; then a crash.
    static let reopened = CrashScenario(
        "a folder that was closed",
        after: [new],
        commits: [sets(group), deletes(["colors/blue"]), sets("books/b2/reviews/r2"), sets("colors/white")],
        ending: SIGKILL
    )

    /// The same folder, which has to be recovered.
    static let recovered = CrashScenario(
        "a folder after a crash",
        after: [new, reopened],
        commits: [sets(group), deletes(["books/b2/reviews/r2"]), deletes(["colors/\(long)/shades/dark"])]
    )

    /// A journal segment that becomes full, so that another is begun.
    static let rolling: CrashScenario = {
        let commits = [sets(group), sets(["notes/large"], size: 400_000), sets(group)]
        var life = CrashScenario("a full journal segment", after: [filled], commits: commits)
        life.purpose = "rename journal/"
        return life
    }()

    /// A journal segment that is removed because it is old.
    static let retiring: CrashScenario = {
        var life = CrashScenario(
            "an old journal segment",
            after: [filled, rolling],
            commits: [sets(group), deletes(["notes/large"])]
        )
        life.isJournalOld = true
        life.purpose = "unlink journal/00000000000000000001.journal"
        return life
    }()

    /// Checkpoints while more is written. A checkpoint waits for the one before, so that one at least is done when the life ends.
    static let checkpointing: CrashScenario = {
        let commits = (0..<4).flatMap { number in [sets(["notes/large\(number)"], size: 1_030_000), sets(group)] }
        var life = CrashScenario("checkpoints", after: [new], commits: commits, ending: SIGKILL)
        life.purpose = "syncfs"
        return life
    }()

    /// All of them.
    static let all = [new, reopened, recovered, rolling, retiring, checkpointing]

    private static let long = String(repeating: "lång", count: 80)

    /// All but 300 KB of a journal segment of 16 MiB.
    private static let filled: CrashScenario = {
        let large = (0..<16).map { "large/n\($0)" }
        return CrashScenario("a folder to begin with", commits: [sets(large, size: 1_030_000), deletes(large)])
    }()

    private static func sets(_ paths: String...) -> Plan { sets(paths) }

    private static func sets(_ paths: [String], size: Int = 20) -> Plan {
        { number in paths.map { write($0, .sample(number: number, size: size)) } }
    }

    private static func deletes(_ paths: [String]) -> Plan {
        { _ in paths.map { write($0, nil) } }
    }

    private static func write(_ path: String, _ fields: MapValue?) -> PlannedWrite {
        guard let path = try? DocumentPath(path) else { preconditionFailure("\(path) is a path of this file") }
        return PlannedWrite(path: path, fields: fields)
    }
}

extension CrashScenario {
    /// A data folder, and what it must hold.
    struct State: Sendable {
        let data: URL
        var history: CommitHistory
    }

    /// What became of a life.
    struct Outcome: Sendable {
        var state: State
        /// What was answered to the commits that failed.
        var errors: [StatusError] = []
        /// Why the server did not start, if it didn't.
        var failedStart: CrashServer.DidNotStart?
        /// What was wrong while the server was running.
        var violations: [String] = []
        /// How the server ended; nil when it did not start.
        var end: ServerProcess.ExitStatus?
    }

    /// Lives the life, with or without a fault, as far as it goes.
    func run(_ state: State, plan: FaultPlan? = nil) async throws -> Outcome {
        var outcome = Outcome(state: state)
        if isJournalOld { try Self.age(state.data.appending(path: "journal")) }
        let server: CrashServer
        do {
            server = try await CrashServer(data: state.data, plan: plan)
        } catch let error as CrashServer.DidNotStart {
            outcome.failedStart = error
            return outcome
        }
        let recorder = CommitRecorder(state.history)
        for collection in Self.indexedCollections {
            do throws(StatusError) {
                try await server.defineIndexes(of: collection)
            } catch {
                outcome.errors.append(error)
            }
        }
        for commit in commits {
            do throws(StatusError) {
                try await recorder.commit(on: server, commit)
            } catch {
                outcome.errors.append(error)
            }
        }
        outcome.state.history = recorder.history
        if plan?.fault?.isDeadly == false {
            outcome.violations = try await server.attended {
                try await recorder.history.check(server, data: state.data, disk: false).violations
            }
        }
        outcome.end = try await server.stop(with: ending)
        return outcome
    }

    /// The state in which a folder is before this life.
    func prepare(in folder: URL) async throws -> State {
        let groups = [try Self.group.map { try DocumentPath($0) }]
        var state = State(data: folder.appending(path: "prepared"), history: CommitHistory(groups: groups))
        for life in before { state = try await life.run(state).state }
        return state
    }

    /// Makes the files in a folder two days old.
    private static func age(_ folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let date = Date(timeIntervalSinceNow: -2 * 24 * 60 * 60)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.appending(path: name).path)
        }
    }
}

extension CrashScenario.State {
    /// The same state in another folder.
    func copied(to folder: URL) throws -> Self {
        if FileManager.default.fileExists(atPath: data.path) { try FileManager.default.copyItem(at: data, to: folder) }
        return Self(data: folder, history: history)
    }

    /// Starts a server that nothing disturbs, and compares everything; then writes, stops the server, and compares the files.
    func violationsAfterRestart() async throws -> [String] {
        let server = try await CrashServer(data: data)
        var (snapshot, violations) = try await server.attended {
            var history = history
            let (found, violations) = try await history.check(server, data: data)
            history.adopt(found)
            let recorder = CommitRecorder(history)
            let path = try DocumentPath("colors/afterwards")
            try await recorder.commit(on: server) { [PlannedWrite(path: path, fields: .sample(number: $0))] }
            let snapshot = try await StoreSnapshot(server.connection)
            return (snapshot, violations + recorder.history.violations(in: snapshot))
        }
        let end = try await server.stop(with: SIGTERM)
        if end != .code(0) { violations.append("the server did not stop cleanly: \(end)") }
        let disk = try DiskContents(of: data)
        if disk.documents != snapshot.documents { violations.append("the files of the stopped server are not what it showed") }
        violations += disk.temporaries.map { "\($0) was left behind by a clean stop" }
        // A folder of a long ID that a crash left empty and without its ID is no document's loss.
        return try await violations + FolderCheck.findings(in: data).filter { !$0.hasPrefix("foreignName") }
    }
}
