import DocumentModel
import HearthClient
import Synchronization
import UTF8Text

/// A load of concurrent writers and watchers, which runs until the server is gone.
///
/// The writers share the documents. They write single documents, several documents, and groups that are always written together,
/// and delete documents, with single commits, transactions and batch writes.
struct CommitLoad: Sendable {
    /// Documents that are written individually or with others, including subcollections.
    private let documents: [DocumentPath]
    /// The groups of documents that are only written together.
    let groups: [[DocumentPath]]
    /// The watchers, which resume after restarts of the server.
    let watchers = ResumingWatchers()
    private static let writerCount = 6

    init() throws {
        let singles = ["notes", "notes/n1/replies", "notes/n1/replies/n2/votes", "drafts/d1/pages"]
        documents = try singles.flatMap { collection in
            try (0..<8).map { try DocumentPath("\(collection)/n\($0)") }
        }
        groups = try (0..<4).map { group in
            // The last one makes large commits.
            let entries = (0..<(group == 3 ? 20 : 1)).map { "accounts/a\(group)/entries/e\($0)" }
            return try (["accounts/a\(group)", "ledgers/l\(group)"] + entries).map { try DocumentPath($0) }
        }
    }

    private var collections: Set<CollectionPath> {
        Set((documents + groups.joined()).map(\.collection))
    }

    /// The results of a load.
    final class Report: Sendable {
        private let recorded = Mutex<(inconsistencies: [String], watched: Int)>(([], 0))

        /// Unexpected errors, and inconsistencies found by watchers.
        var inconsistencies: [String] { recorded.withLock { $0.inconsistencies } }
        /// The number of changes received by watchers.
        var watched: Int { recorded.withLock { $0.watched } }

        fileprivate func record(_ inconsistency: String) {
            recorded.withLock { $0.inconsistencies.append(inconsistency) }
        }

        fileprivate func recordChange() {
            recorded.withLock { $0.watched += 1 }
        }
    }

    /// Runs the load until `ending` has stopped the server.
    ///
    /// - Parameter goesOn: Returns whether a writer goes on after a server has not made its commit, or may not have.
    func run(
        on server: CrashServer,
        recorder: CommitRecorder,
        random: CrashRandom,
        goesOn: @escaping @Sendable () -> Bool = { false },
        ending: @escaping @Sendable () async throws -> Void
    ) async throws -> Report {
        let report = Report()
        var random = random
        try await withThrowingTaskGroup { group in
            for collection in collections {
                group.addTask { await watch(collection, on: server, recorder, report) }
            }
            for _ in 0..<Self.writerCount {
                let writer = Writer(load: self, random: CrashRandom(stream: random.next()))
                group.addTask { await writer.run(on: server, recorder, report, goesOn) }
            }
            group.addTask { try await ending() }
            try await group.waitForAll()
        }
        return report
    }

    /// Begins to watch, so that watchers are told of all changes, whichever server makes the first.
    func openWatchers(on server: CrashServer) async throws {
        for collection in collections {
            for try await frame in try await server.connection.watch(.collection(collection)) {
                _ = watchers.add(frame, nil, of: collection)
                if frame.kind == .current { break }
            }
        }
    }

    private func watch(
        _ collection: CollectionPath,
        on server: CrashServer,
        _ recorder: CommitRecorder,
        _ report: Report
    ) async {
        do {
            // On a separate connection, so that streams don't occupy the connections of the writers.
            try await HearthConnection.withConnection(to: server.connection.server, key: server.key) { connection in
                for try await frame in try await connection.watch(
                    .collection(collection),
                    resume: watchers.token(of: collection)
                ) {
                    let change = try WatchedChange(frame)
                    if let inconsistency = watchers.add(frame, change, of: collection) { report.record(inconsistency) }
                    guard let change else { continue }
                    report.recordChange()
                    recorder.recordWatched(change)
                }
            }
        } catch let error as StatusError where error.code == .unavailable {
            // The server is gone.
        } catch {
            report.record("a watcher of \(collection) failed: \(error)")
        }
    }
}

extension CommitLoad {
    /// A writer, which commits sequentially.
    private struct Writer: Sendable {
        let load: CommitLoad
        var random: CrashRandom

        func run(
            on server: CrashServer,
            _ recorder: CommitRecorder,
            _ report: Report,
            _ goesOn: @Sendable () -> Bool
        ) async {
            var writer = self
            while true {
                do throws(StatusError) {
                    try await writer.send(to: server, recorder)
                } catch {
                    // A conflict with another writer.
                    if error.code == .aborted { continue }
                    // It has an unknown outcome.
                    let isUnknown = error.code == .unavailable || error.code == .deadlineExceeded
                    if !isUnknown { report.record("a commit was rejected: \(error)") }
                    guard isUnknown, goesOn(), (try? await Task.sleep(for: .milliseconds(100))) != nil else { return }
                }
            }
        }

        /// Sends a random kind of commit.
        private mutating func send(to server: CrashServer, _ recorder: CommitRecorder) async throws(StatusError) {
            switch Int.random(in: 0..<100, using: &random) {
            case ..<60: try await recorder.commit(on: server, plan())
            case ..<80: try await recorder.commit(on: server, inTransaction: true, plan())
            default:
                let paths = Set((0..<Int.random(in: 2...6, using: &random)).map { _ in randomDocument() })
                try await recorder.batchWrite(
                    on: server,
                    paths.map { path in { number in [PlannedWrite(path: path, fields: .sample(number: number))] } }
                )
            }
        }

        /// Returns a random commit, which is later assigned a number.
        private mutating func plan() -> @Sendable (Int) -> [PlannedWrite] {
            let size =
                random.chance(1) ? Int.random(in: 10_000...100_000, using: &random) : Int.random(in: 0...2_000, using: &random)
            var targets: [(path: DocumentPath, isDeleted: Bool)] = []
            switch Int.random(in: 0..<100, using: &random) {
            case ..<45: targets = [(randomDocument(), false)]
            case ..<60: targets = [(randomDocument(), true)]
            case ..<75:
                let paths = Set((0..<Int.random(in: 2...6, using: &random)).map { _ in randomDocument() }).sorted()
                targets = paths.map { path in (path, random.chance(30)) }
            default:
                let group = load.groups.randomElement(using: &random) ?? []
                // Occasionally deletes the whole group.
                let isDeleted = random.chance(10)
                targets = group.map { ($0, isDeleted) }
            }
            return { [targets] number in
                targets.map { PlannedWrite(path: $0.path, fields: $0.isDeleted ? nil : .sample(number: number, size: size)) }
            }
        }

        private mutating func randomDocument() -> DocumentPath {
            load.documents[Int.random(in: load.documents.indices, using: &random)]
        }
    }
}

extension MapValue {
    /// Returns fields with the commit number and a text of about `size` bytes that is specific to the commit.
    static func sample(number: Int, size: Int = 20) -> MapValue {
        let text = "commit \(number), ø, "
        let repeated = String(repeating: text, count: size / text.utf8.count + 1)
        return [
            PlannedWrite.number: .integer(Int64(number)), "text": .string(repeated), "list": .array([.boolean(true), .null]),
        ]
    }
}
