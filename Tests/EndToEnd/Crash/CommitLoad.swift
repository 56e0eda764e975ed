import DocumentModel
import HearthClient
import StrictJSON
import Synchronization

/// Several callers that commit to a server at the same time, and watchers beside them, until the server is gone.
///
/// The callers write to the same documents: single ones, several at a time, groups of documents that always get the same
/// number, and they delete; in single commits, in transactions, and many at once of which each is for itself.
struct CommitLoad: Sendable {
    /// Documents that anybody writes alone or together with others, some of them below others.
    private let documents: [DocumentPath]
    /// Documents that are only ever written all together.
    let groups: [[DocumentPath]]
    /// Watchers beside the callers, which outlive the server.
    let watchers = ResumingWatchers()
    private static let callerCount = 6

    init() throws {
        let singles = ["notes", "notes/n1/replies", "notes/n1/replies/n2/votes", "drafts/d1/pages"]
        documents = try singles.flatMap { collection in
            try (0..<8).map { try DocumentPath("\(collection)/n\($0)") }
        }
        groups = try (0..<4).map { group in
            try ["accounts/a\(group)", "ledgers/l\(group)", "accounts/a\(group)/entries/last"].map { try DocumentPath($0) }
        }
    }

    private var collections: Set<CollectionPath> {
        Set((documents + groups.joined()).map(\.collection))
    }

    /// What came of a load.
    final class Report: Sendable {
        private let noted = Mutex<(faults: [String], watched: Int)>(([], 0))

        /// Refusals, and what watchers were shown that can't be: none is expected.
        var faults: [String] { noted.withLock { $0.faults } }
        /// How many changes the watchers were shown.
        var watched: Int { noted.withLock { $0.watched } }

        fileprivate func note(fault: String) {
            noted.withLock { $0.faults.append(fault) }
        }

        fileprivate func noteChange() {
            noted.withLock { $0.watched += 1 }
        }
    }

    /// Runs the load while `ending` decides when to end the server; returns when the server is gone.
    func run(
        on server: CrashServer,
        recorder: CommitRecorder,
        random: CrashRandom,
        ending: @escaping @Sendable () async throws -> Void
    ) async throws -> Report {
        let report = Report()
        var random = random
        try await withThrowingTaskGroup { group in
            for collection in collections {
                group.addTask { await watch(collection, on: server, recorder, report) }
            }
            for _ in 0..<Self.callerCount {
                let caller = Caller(load: self, random: CrashRandom(stream: random.next()))
                group.addTask { await caller.run(on: server, recorder, report) }
            }
            group.addTask { try await ending() }
            try await group.waitForAll()
        }
        return report
    }

    private func watch(
        _ collection: CollectionPath,
        on server: CrashServer,
        _ recorder: CommitRecorder,
        _ report: Report
    ) async {
        do {
            // On a connection of its own: streams must not take the places of the callers.
            try await HearthConnection.withConnection(to: server.connection.server) { connection in
                for try await frame in try await connection.watch(
                    .collection(collection),
                    resume: watchers.token(of: collection)
                ) {
                    let change = try WatchedChange(frame)
                    if let fault = watchers.take(frame, change, of: collection) { report.note(fault: fault) }
                    guard let change else { continue }
                    report.noteChange()
                    recorder.see(change)
                }
            }
        } catch let error as StatusError where error.code == .unavailable {
            // The server is gone.
        } catch {
            report.note(fault: "a watcher of \(collection) failed: \(error)")
        }
    }
}

extension CommitLoad {
    /// One of the callers: commits, one after another.
    private struct Caller: Sendable {
        let load: CommitLoad
        var random: CrashRandom

        func run(on server: CrashServer, _ recorder: CommitRecorder, _ report: Report) async {
            var caller = self
            while true {
                do throws(StatusError) {
                    try await caller.send(to: server, recorder)
                } catch {
                    // Somebody else has changed what a transaction read.
                    if error.code == .aborted { continue }
                    if error.code != .unavailable { report.note(fault: "a commit was refused: \(error)") }
                    return
                }
            }
        }

        /// Sends a commit in one of the ways that there are.
        private mutating func send(to server: CrashServer, _ recorder: CommitRecorder) async throws(StatusError) {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<60: try await recorder.commit(on: server, plan())
            case ..<80: try await recorder.commit(on: server, inTransaction: true, plan())
            default:
                let paths = Set((0..<Int.random(in: 2...6, using: &random)).map { _ in pick() })
                try await recorder.batchWrite(
                    on: server,
                    paths.map { path in { number in [PlannedWrite(path: path, fields: .sample(number: number))] } }
                )
            }
        }

        /// Decides on a commit, which then gets a number.
        private mutating func plan() -> @Sendable (Int) -> [PlannedWrite] {
            let size =
                random.chance(1) ? Int.random(in: 10_000...100_000, using: &random) : Int.random(in: 0...2_000, using: &random)
            var targets: [(path: DocumentPath, isDeleted: Bool)] = []
            switch Int.random(in: 0..<100, using: &random) {
            case ..<45: targets = [(pick(), false)]
            case ..<60: targets = [(pick(), true)]
            case ..<75:
                let paths = Set((0..<Int.random(in: 2...6, using: &random)).map { _ in pick() }).sorted()
                targets = paths.map { path in (path, random.chance(30)) }
            default:
                let group = load.groups.randomElement(using: &random) ?? []
                // A deletion of all of them, now and then.
                let isDeleted = random.chance(10)
                targets = group.map { ($0, isDeleted) }
            }
            return { [targets] number in
                targets.map { PlannedWrite(path: $0.path, fields: $0.isDeleted ? nil : .sample(number: number, size: size)) }
            }
        }

        private mutating func pick() -> DocumentPath {
            load.documents[Int.random(in: load.documents.indices, using: &random)]
        }
    }
}

extension MapValue {
    /// Fields that tell which commit wrote them, with a text of about so many bytes that differs from commit to commit.
    static func sample(number: Int, size: Int = 20) -> MapValue {
        let text = "commit \(number), ø, "
        let repeated = String(repeating: text, count: size / text.utf8.count + 1)
        return [
            PlannedWrite.number: .integer(Int64(number)), "text": .string(repeated), "list": .array([.boolean(true), .null]),
        ]
    }
}
