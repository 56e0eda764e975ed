package import DocumentModel
internal import DocumentStore
package import Logging
internal import UTF8Text

extension DatabaseFolders {
    /// Checks a database as ``FileStore/check(_:as:onFinding:onProgress:)`` does. The findings' files are relative to the data folder
    /// that contains all databases.
    ///
    /// - Throws: `.notFound` when the database does not exist.
    package func check(
        _ id: DatabaseID,
        onFinding: @escaping @Sendable (CheckFinding) -> Void,
        onProgress: @escaping @Sendable (CheckReport) -> Void = { _ in }
    ) async throws(StatusError) -> CheckReport {
        try await requireExistence(of: id)
        let folder = folderPath(of: id)
        return try await FileStore.check(
            path + "/" + folder,
            as: DatabaseIdentity(id),
            onFinding: { onFinding($0.inFolder(folder, of: id)) },
            onProgress: onProgress
        )
    }

    /// Repairs a database as ``FileStore/repair(_:as:logger:onProgress:)`` does.
    ///
    /// - Throws: `.notFound` when the database does not exist.
    package func repair(
        _ id: DatabaseID,
        logger: Logger,
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(StatusError) {
        try await requireExistence(of: id)
        let identity = DatabaseIdentity(id)
        try await FileStore.repair(path + "/" + folderPath(of: id), as: identity, logger: logger, onProgress: onProgress)
    }

    /// Returns the finding for a database that can't be checked.
    package func finding(_ error: StatusError, of id: DatabaseID) -> CheckFinding {
        CheckFinding(error, file: DataFolder.manifestName).inFolder(folderPath(of: id), of: id)
    }

    private func requireExistence(of id: DatabaseID) async throws(StatusError) {
        guard try await !contains(id) else { return }
        throw StatusError(.notFound, "There is no database \(Excerpt(id.description)) in the data folder.")
    }
}
