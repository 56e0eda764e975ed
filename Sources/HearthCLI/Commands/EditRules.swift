import DocumentModel
import DocumentStore
import HearthAPI
import Synchronization

/// The security rules of a server as they decide about edits of files. A store begins to take edits before the server has its rules.
final class EditRules: Sendable {
    private let defaultDatabase: DatabaseID
    private let registry = Mutex<RulesRegistry?>(nil)

    init(defaultDatabase: DatabaseID) {
        self.defaultDatabase = defaultDatabase
    }

    /// Begins to decide by rules.
    func use(_ rules: RulesRegistry) {
        registry.withLock { $0 = rules }
    }

    /// Returns the decision about edits by a user of the system.
    ///
    /// - Parameter database: The database; `nil` for the default one.
    /// - Throws: `.unavailable` until the server has its rules.
    func authorization(
        in database: DatabaseID?,
        for user: String?
    ) async throws(StatusError) -> any CommitAuthorization {
        guard let rules = registry.withLock(\.self) else {
            throw StatusError(.unavailable, "The server is starting, and has not read its security rules yet.")
        }
        return try await rules.editAuthorization(of: database ?? defaultDatabase, isDefault: database == nil, by: user)
    }
}
