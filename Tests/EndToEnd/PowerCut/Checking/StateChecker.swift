import DocumentModel
import DocumentStore
import FileStore
import Foundation
import Logging
import Synchronization
import UTF8Text

/// Opens a state after a power cut with the store and compares it with the recorded history.
struct StateChecker: Sendable {
    let history: RecordedHistory
    private let logger = Logger(label: "powercut") { _ in SwiftLogNoOpLogHandler() }

    /// A violation of a guarantee.
    struct Violation: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    init(_ history: RecordedHistory) {
        self.history = history
    }

    /// Writes a state to a folder, recovers it, and checks that it is the exact result of a prefix of the commits and that the store
    /// is usable.
    ///
    /// - Returns: The number of surviving commits.
    func check(_ tree: FileTree, in folder: URL) async throws -> Int {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // The number of zeros after the last record is irrelevant, and reading megabytes of them takes time.
        try FolderContents.write(tree.items, to: folder, maximumZeros: 32 << 10)
        let data = folder.appendingPathComponent(Recording.dataName.string)
        let commits = try await withStore(data) { store in
            let commits = Int(store.position.lastSequence.rawValue)
            guard commits < history.states.count else {
                throw Violation("Found \(commits) commits, but only \(history.commits.count) were made")
            }
            try await compareDocuments(of: store, with: commits)
            try await compareCommits(of: store, with: commits)
            return commits
        }
        let recovered = try FolderContents.items(in: data)
        if let temporary = recovered.first(where: { $0.path.count > 1 && $0.path[$0.path.count - 1].string.hasSuffix(".tmp") }) {
            throw Violation("The temporary file \(temporary.path.map(\.string)) was not removed")
        }
        try await withStore(data) { _ in }
        guard try FolderContents.items(in: data) == recovered else { throw Violation("Reopening changes the folder") }
        try await withStore(data) { try await checkWriting(to: $0, after: commits) }
        let findings = Mutex<[CheckFinding]>([])
        _ = try await FileStore.check(data.path) { finding in findings.withLock { $0.append(finding) } }
        if let finding = findings.withLock({ $0.first }) { throw Violation("The check reports \(finding)") }
        return commits
    }

    private func withStore<Result>(_ data: URL, _ body: (FileStore) async throws -> Result) async throws -> Result {
        let store: FileStore
        do {
            var configuration = FileStoreConfiguration(folder: data.path)
            configuration.segmentBytes = 64 << 10
            store = try await FileStore.open(configuration, logger: logger)
        } catch {
            throw Violation("The store cannot be opened: \(error)")
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
                After \(commits) commits, found \(path) as
                \(found[path].map { "\($0)" } ?? "missing")
                expected
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

    /// Compares the commits retained in the journal.
    private func compareCommits(of store: FileStore, with commits: Int) async throws {
        let oldest = Int(store.position.oldestRetained.rawValue)
        guard oldest <= commits else { return }
        var expected = oldest
        for try await commit in store.commits(after: SequenceNumber(UInt64(oldest - 1))) {
            guard commit.sequence.rawValue == expected, commit.time == history.commits[expected - 1].time,
                Set(commit.changes.map(\.path)) == history.changedPaths(by: expected)
            else { throw Violation("Commit \(expected) is stored in the journal as \(commit)") }
            for change in commit.changes {
                guard try change.after?.decoded() == history.states[expected][change.path] else {
                    throw Violation("Commit \(expected) is stored in the journal as \(commit)")
                }
            }
            if expected == commits { return }
            expected += 1
        }
        throw Violation("The journal ends before commit \(expected)")
    }

    private func checkWriting(to store: FileStore, after commits: Int) async throws {
        let path = try DocumentPath("afterward/new")
        let result = try await store.commit([.create(path, ["new": .boolean(true)])])
        guard result.sequence?.rawValue == UInt64(commits + 1), try await store.document(at: path) != nil else {
            throw Violation("The next commit has the sequence number \(result.sequence.map { "\($0)" } ?? "none")")
        }
    }
}
