import DocumentModel
import DocumentStore
import Foundation
import Logging
import StrictJSON
import Synchronization

/// Opens what a power cut left with the store, and compares it with what was promised.
struct StateChecker: Sendable {
    let history: History
    private let logger = Logger(label: "powercut") { _ in SwiftLogNoOpLogHandler() }

    /// A promise that was not kept.
    struct Violation: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    init(_ history: History) {
        self.history = history
    }

    /// Lays a state out in a folder, recovers it, and checks that it is what some number of commits in order made, each whole,
    /// that nothing else is there, and that it can be worked with.
    ///
    /// - Returns: The number of commits.
    func check(_ tree: FileTree, in folder: URL) async throws -> Int {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Zeros behind the last frame mean the same however many there are, and reading through megabytes takes time.
        try FolderLayout.lay(out: tree.items, in: folder, zeros: 32 << 10)
        let data = folder.appendingPathComponent(Recording.dataName.string)
        let commits = try await withStore(data) { store in
            let commits = Int(store.position.lastSequence.rawValue)
            guard commits < history.states.count else {
                throw Violation("There are \(commits) commits, and only \(history.commits.count) were made")
            }
            try await compareDocuments(of: store, with: commits)
            try await compareCommits(of: store, with: commits)
            return commits
        }
        let recovered = try FolderLayout.items(in: data)
        if let temporary = recovered.first(where: { $0.path.count > 1 && $0.path[$0.path.count - 1].string.hasSuffix(".tmp") }) {
            throw Violation("\(temporary.path.map(\.string)) was left")
        }
        try await withStore(data) { _ in }
        guard try FolderLayout.items(in: data) == recovered else { throw Violation("Opening it again changes the folder") }
        try await withStore(data) { try await checkWriting(to: $0, after: commits) }
        // The documents, the journal and the index are compared.
        let findings = Mutex<[CheckFinding]>([])
        _ = try await FileStore.check(data.path) { finding in findings.withLock { $0.append(finding) } }
        if let finding = findings.withLock({ $0.first }) { throw Violation("A check finds \(finding)") }
        return commits
    }

    private func withStore<Result>(_ data: URL, _ body: (FileStore) async throws -> Result) async throws -> Result {
        let store: FileStore
        do {
            var configuration = FileStoreConfiguration(folder: data.path)
            configuration.segmentBytes = 64 << 10
            store = try await FileStore.open(configuration, logger: logger)
        } catch {
            throw Violation("It can't be opened: \(error)")
        }
        do {
            let result = try await body(store)
            await store.close()
            return result
        } catch {
            await store.close()
            throw error
        }
    }

    private func compareDocuments(of store: FileStore, with commits: Int) async throws {
        let expected = history.states[commits]
        var found: [DocumentPath: Document] = [:]
        try await collect(below: nil, of: store, into: &found)
        for path in Set(expected.keys).union(found.keys) where expected[path] != found[path] {
            throw Violation(
                """
                After \(commits) commits \(path) is
                \(found[path].map { "\($0)" } ?? "missing")
                and should be
                \(expected[path].map { "\($0)" } ?? "missing")
                """
            )
        }
    }

    private func collect(
        below parent: DocumentPath?,
        of store: FileStore,
        into found: inout [DocumentPath: Document]
    ) async throws {
        for id in try await store.collections(under: parent, after: nil, limit: 1_000).collections {
            let collection = parent.map { $0.collection(id) }
            let page = try await store.documents(
                in: collection ?? CollectionPath(parent: nil, id: id),
                after: nil,
                limit: 1_000,
                includingMissing: true
            )
            if let damaged = page.damaged.first { throw Violation("A file is damaged: \(damaged)") }
            for listed in page.documents {
                switch listed {
                case .document(let document):
                    found[document.path] = try document.decoded()
                    try await collect(below: document.path, of: store, into: &found)
                case .missing(let path):
                    try await collect(below: path, of: store, into: &found)
                }
            }
        }
    }

    /// The commits that watchers can still read.
    private func compareCommits(of store: FileStore, with commits: Int) async throws {
        let oldest = Int(store.position.oldestKept.rawValue)
        guard oldest <= commits else { return }
        var expected = oldest
        for try await commit in store.commits(after: SequenceNumber(UInt64(oldest - 1))) {
            guard commit.sequence.rawValue == expected, commit.time == history.commits[expected - 1].time,
                Set(commit.changes.map(\.path)) == history.changedPaths(by: expected)
            else { throw Violation("Commit \(expected) is read back from the journal as \(commit)") }
            for change in commit.changes {
                guard try change.after?.decoded() == history.states[expected][change.path] else {
                    throw Violation("Commit \(expected) is read back from the journal as \(commit)")
                }
            }
            if expected == commits { return }
            expected += 1
        }
        throw Violation("The journal ends before commit \(expected)")
    }

    private func checkWriting(to store: FileStore, after commits: Int) async throws {
        let path = try DocumentPath("afterwards/new")
        let result = try await store.commit([.create(path, ["new": .boolean(true)])])
        guard result.sequence?.rawValue == UInt64(commits + 1), try await store.document(at: path) != nil else {
            throw Violation("The next commit gets the number \(result.sequence.map { "\($0)" } ?? "none")")
        }
    }
}
