import DocumentModel
import Foundation
import HearthClient
import TestSupport

/// A deterministic server run that performs file-modifying operations.
struct CrashScenario: Sendable, CustomStringConvertible {
    /// The name of the scenario.
    let description: String
    /// The scenarios that prepare the data folder.
    private let predecessors: [CrashScenario]
    private let commits: [Plan]
    /// The signal that ends the run.
    private let ending: Int32
    /// True to make the existing journal old enough to be removed.
    private var isJournalOld = false
    /// The prefix of a system call that the scenario must perform.
    private(set) var purpose = "rename documents/"

    private typealias Plan = @Sendable (Int) -> [PlannedWrite]

    private init(_ description: String, after predecessors: [CrashScenario] = [], commits: [Plan], ending: Int32 = SIGTERM) {
        self.description = description
        self.predecessors = predecessors
        self.commits = commits
        self.ending = ending
    }

    /// The documents that are only written together.
    static let group = ["accounts/a", "ledgers/l", "accounts/a/entries/last"]

    /// The IDs of collections with composite indexes and exemptions: a root collection and a subcollection.
    private static let indexedCollections = ["colors", "entries"]

    /// Creates, overwrites and deletes documents, individually and together, with subcollections and IDs longer than a file name.
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

    /// Reopens the folder after a clean shutdown, then crashes.
    static let reopened = CrashScenario(
        "a reopened folder",
        after: [new],
        commits: [sets(group), deletes(["colors/blue"]), sets("books/b2/reviews/r2"), sets("colors/white")],
        ending: SIGKILL
    )

    /// Recovers the folder after a crash.
    static let recovered = CrashScenario(
        "a folder after a crash",
        after: [new, reopened],
        commits: [sets(group), deletes(["books/b2/reviews/r2"]), deletes(["colors/\(long)/shades/dark"])]
    )

    /// Fills a journal segment, so that a new one is created.
    static let newSegment: CrashScenario = {
        let commits = [sets(group), sets(["notes/large"], size: 400_000), sets(group)]
        var scenario = CrashScenario("a full journal segment", after: [filled], commits: commits)
        scenario.purpose = "rename journal/"
        return scenario
    }()

    /// Removes an expired journal segment.
    static let removedSegment: CrashScenario = {
        var scenario = CrashScenario(
            "an expired journal segment",
            after: [filled, newSegment],
            commits: [sets(group), deletes(["notes/large"])]
        )
        scenario.isJournalOld = true
        scenario.purpose = "unlink journal/00000000000000000001.journal"
        return scenario
    }()

    /// Performs checkpoints during writes. A checkpoint waits for the previous one, so that at least one is complete at the end.
    static let checkpoints: CrashScenario = {
        let commits = (0..<4).flatMap { number in [sets(["notes/large\(number)"], size: 1_030_000), sets(group)] }
        var scenario = CrashScenario("checkpoints", after: [new], commits: commits, ending: SIGKILL)
        scenario.purpose = "syncfs"
        return scenario
    }()

    /// Writes and deletes more documents in a commit than are changed in one step.
    static let large: CrashScenario = {
        let documents = (0..<12).flatMap { ["large/n\($0)", "large/n\($0)/entries/e"] }
        return CrashScenario(
            "large commits",
            after: [new],
            commits: [
                sets(documents + group),
                sets(group),
                { number in sets(group + documents.suffix(6))(number) + deletes(documents.dropLast(6))(number) },
            ]
        )
    }()

    /// All scenarios.
    static let all = [new, reopened, recovered, newSegment, removedSegment, checkpoints, large]

    private static let long = String(repeating: "lång", count: 80)

    /// Fills a journal segment of 16 MiB except for 300 KB.
    private static let filled: CrashScenario = {
        let large = (0..<16).map { "large/n\($0)" }
        return CrashScenario("a filled journal segment", commits: [sets(large, size: 1_030_000), deletes(large)])
    }()

    private static func sets(_ paths: String...) -> Plan { sets(paths) }

    private static func sets(_ paths: [String], size: Int = 20) -> Plan {
        { number in paths.map { write($0, .sample(number: number, size: size)) } }
    }

    private static func deletes(_ paths: [String]) -> Plan {
        { _ in paths.map { write($0, nil) } }
    }

    private static func write(_ path: String, _ fields: MapValue?) -> PlannedWrite {
        guard let path = try? DocumentPath(path) else { preconditionFailure("\(path) is not a valid path") }
        return PlannedWrite(path: path, fields: fields)
    }
}

extension CrashScenario {
    /// A data folder with its history.
    struct State: Sendable {
        let data: URL
        var history: CommitHistory
    }

    /// The outcome of a run.
    struct Outcome: Sendable {
        var state: State
        /// The errors of failed commits.
        var errors: [StatusError] = []
        /// The error if the server did not start.
        var failedStart: CrashServer.StartFailure?
        /// The violations found while the server was running.
        var violations: [String] = []
        /// The exit status of the server; `nil` if it did not start.
        var end: ServerProcess.ExitStatus?
    }

    /// Runs the scenario, optionally with a fault.
    func run(_ state: State, plan: FaultPlan? = nil) async throws -> Outcome {
        var outcome = Outcome(state: state)
        if isJournalOld { try Self.age(state.data.appending(path: "journal")) }
        let server: CrashServer
        do {
            server = try await CrashServer(data: state.data, plan: plan)
        } catch let error as CrashServer.StartFailure {
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
        if plan?.fault?.isFatal == false {
            outcome.violations = try await server.killingOnError {
                try await recorder.history.check(server, data: state.data, disk: false).violations
            }
        }
        outcome.end = try await server.stop(with: ending)
        return outcome
    }

    /// Returns the state of the folder before this scenario.
    func prepare(in folder: URL) async throws -> State {
        let groups = [try Self.group.map { try DocumentPath($0) }]
        var state = State(data: folder.appending(path: "prepared"), history: CommitHistory(groups: groups))
        for scenario in predecessors { state = try await scenario.run(state).state }
        return state
    }

    /// Sets the modification time of the files in a folder to two days ago.
    private static func age(_ folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let date = Date(timeIntervalSinceNow: -2 * 24 * 60 * 60)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.appending(path: name).path)
        }
    }
}

extension CrashScenario.State {
    /// Copies the state to another folder.
    func copied(to folder: URL) throws -> Self {
        if FileManager.default.fileExists(atPath: data.path) { try FileManager.default.copyItem(at: data, to: folder) }
        return Self(data: folder, history: history)
    }

    /// Starts a server without faults and checks it; then writes, stops the server and checks the files.
    func violationsAfterRestart() async throws -> [String] {
        let server = try await CrashServer(data: data)
        var (snapshot, violations) = try await server.killingOnError {
            var history = history
            let (found, violations) = try await history.check(server, data: data)
            history.rebase(found)
            let recorder = CommitRecorder(history)
            let path = try DocumentPath("colors/afterward")
            try await recorder.commit(on: server) { [PlannedWrite(path: path, fields: .sample(number: $0))] }
            let snapshot = try await StoreSnapshot(server.connection)
            return (snapshot, violations + recorder.history.violations(in: snapshot))
        }
        let end = try await server.stop(with: SIGTERM)
        if end != .code(0) { violations.append("the server did not shut down cleanly: \(end)") }
        let disk = try DataFolderContents(of: data)
        if disk.documents != snapshot.documents {
            violations.append("the files differ from the state of the server before it was stopped")
        }
        violations += disk.temporaries.map { "the temporary file \($0) remains after a clean shutdown" }
        // A crash can leave an empty folder for a long ID without its ID file, which loses no document.
        return try await violations + FolderCheck.findings(in: data).filter { !$0.hasPrefix("foreignName") }
    }
}
