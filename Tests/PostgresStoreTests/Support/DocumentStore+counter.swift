import DocumentModel
import DocumentStore
import StrictJSON
import TestSupport
import UTF8Text

@testable import PostgresStore

extension DocumentStore {
    /// Adds 1 to the field `v` of a document.
    @discardableResult
    func increment(_ path: String, identity: CommitIdentity? = nil) async throws(StatusError) -> CommitResult {
        let increment = try Write.adding(1, to: DocumentPath(path))
        return try await commit([increment], validating: ReadSet(), by: nil, identity: identity)
    }

    /// Returns the field `v` of a document; 0 if there is none.
    func counter(_ path: String) async throws -> Int64 {
        guard case .integer(let value)? = try await document(at: DocumentPath(path))?.decoded().fields["v"] else { return 0 }
        return value
    }

    /// Returns all commits of the log.
    func allCommits() async throws -> [Commit] {
        let last = try await safePosition().lastSequence
        var iterator = commits(after: .zero).makeAsyncIterator()
        var commits: [Commit] = []
        while commits.count < Int(last.rawValue), let commit = try await iterator.next() { commits.append(commit) }
        return commits
    }
}

extension Write {
    /// Returns a write that adds to the field `v` of a document.
    static func adding(_ number: Int64, to path: DocumentPath) throws(StatusError) -> Write {
        Write(
            path: path,
            operation: .patch([:], mask: []),
            transforms: [try FieldTransform(field: FieldPath("v"), operation: .increment(.integer(number)))]
        )
    }
}

extension EngineServer {
    /// Executes SQL in a database, as the user who owns the tables.
    func execute(_ sql: String, in database: PostgresConfiguration) throws {
        try EngineConnection(database.address, timeout: .seconds(60)).executeScript(sql)
    }
}
