import DocumentModel
import DocumentStore
import Logging
import Synchronization
import TestSupport
import Testing
import UTF8Text

@testable import FileStore

/// A temporary data folder, and the configuration of stores opened on it.
struct StoreFixture {
    let folder: TemporaryFolder
    var configuration: FileStoreConfiguration

    /// Creates the folder, in memory if possible, so that syncing does not wait for a busy disk.
    init(in parent: String = TemporaryFolder.memory) throws {
        folder = try TemporaryFolder(in: parent)
        configuration = FileStoreConfiguration(folder: folder["data"])
        // Small, so that tests are fast and use several segments.
        configuration.segmentBytes = 64 << 10
        // Long enough for a busy machine.
        configuration.indexWaitTimeout = .seconds(600)
        configuration.indexWaitDocumentCount = .max
        // A copy that simulates a crash must not depend on the time it took.
        configuration.checkpointIdleTime = .seconds(3_600)
    }

    func open(at relative: String = "data", logger: Logger = .silent) async throws -> FileStore {
        var configuration = configuration
        configuration.folder = folder[relative]
        return try await FileStore.open(configuration, logger: logger)
    }

    /// Opens the store, runs `body`, and closes the store.
    @discardableResult
    func withStore<Result>(
        at relative: String = "data",
        logger: Logger = .silent,
        _ body: (FileStore) async throws -> Result
    ) async throws -> Result {
        let store = try await open(at: relative, logger: logger)
        do {
            let result = try await body(store)
            await store.close()
            return result
        } catch {
            await store.close()
            throw error
        }
    }
}

extension StoreFixture {
    /// Checks a data folder.
    func check(
        _ relative: String = "data",
        depth: CheckDepth = .complete,
        onProgress: @escaping @Sendable (CheckProgress) -> Void = { _ in }
    ) async throws -> (CheckReport, findings: [CheckFinding]) {
        let found = Findings()
        let report = try await FileStore.check(
            folder[relative],
            depth: depth,
            onFinding: { finding in found.all.withLock { $0.append(finding) } },
            onProgress: onProgress
        )
        let all = found.all.withLock { $0 }
        #expect(report.findings + report.notices == all.count)
        return (report, all)
    }

    /// The findings of a check.
    private final class Findings: Sendable {
        let all = Mutex<[CheckFinding]>([])
    }
}

extension StoreFixture {
    /// Commits until the index has returned the space of its WAL. On a small disk it does that after each transaction, unless a
    /// reader prevents it.
    func waitForIndex(of store: FileStore, at relative: String) async throws {
        repeat {
            try await store.set("index/probe", [:])
            try await store.waitUntilIndexed()
        } while try !folder.bytes(of: "\(relative)/index.sqlite-wal").isEmpty
    }
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension DocumentStore {
    /// Replaces a document.
    @discardableResult
    func set(_ path: String, _ fields: MapValue) async throws -> CommitResult {
        try await commit([Write(path: DocumentPath(path), operation: .replace(fields))])
    }

    @discardableResult
    func delete(_ path: String) async throws -> CommitResult {
        try await commit([Write(path: DocumentPath(path), operation: .delete)])
    }

    /// Returns a document's fields; `nil` if it does not exist.
    func fields(_ path: String) async throws -> MapValue? {
        try await document(at: DocumentPath(path))?.decoded().fields
    }

    func list(
        _ collection: String,
        after: String? = nil,
        limit: Int = 100,
        includingMissing: Bool = false
    ) async throws -> DocumentPage {
        try await documents(
            in: CollectionPath(collection),
            after: after.map { try DocumentPath.ID($0) },
            limit: limit,
            includingMissing: includingMissing
        )
    }

    func collections(under parent: String? = nil) async throws -> [String] {
        try await collections(under: parent.map { try DocumentPath($0) }, after: nil, limit: 100).collections.map(\.key.string)
    }

    /// Returns the first commits after a sequence number.
    func firstCommits(_ count: Int, after sequence: SequenceNumber) async throws -> [Commit] {
        var commits: [Commit] = []
        if count == 0 { return commits }
        for try await commit in self.commits(after: sequence) {
            commits.append(commit)
            if commits.count == count { break }
        }
        return commits
    }
}

extension TemporaryFolder {
    /// Returns the names of the journal segments of a data folder, in order.
    func segments(in data: String) throws -> [String] {
        try names(in: "\(data)/journal").filter { $0.hasSuffix(".journal") }
    }
}

extension FileStore {
    /// Waits until a checkpoint of the last commit is recorded.
    func waitForCheckpoint() async {
        let last = position.lastSequence
        while data.manifest.sequence < last { try? await Task.sleep(for: .milliseconds(5)) }
    }
}

extension DocumentPage {
    /// The IDs of the page, with missing documents in parentheses.
    var ids: [String] {
        documents.map { entry in
            switch entry {
            case .document(let document): document.path.id.key.string
            case .missing(let path): "(\(path.id.key.string))"
            }
        }
    }
}

/// Checks that `body` throws a status error with a code; returns the error.
@discardableResult
func expectStatus<Result>(
    _ code: StatusCode,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Result
) async -> StatusError? {
    do {
        _ = try await body()
        Issue.record("Expected \(code.name), but nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch let error as StatusError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("Expected \(code.name), but \(error) was thrown", sourceLocation: sourceLocation)
        return nil
    }
}
