package import DocumentModel
internal import DocumentStore
package import Logging
internal import UTF8Text

extension DatabaseFolders {
    /// Checks a database as ``FileStore/check(_:as:depth:onFinding:onProgress:)`` does. The findings' files are relative to the
    /// data folder that contains all databases.
    ///
    /// - Throws: `.notFound` when the database does not exist.
    package func check(
        _ id: DatabaseID,
        depth: CheckDepth = .complete,
        onFinding: @escaping @Sendable (CheckFinding) -> Void,
        onProgress: @escaping @Sendable (CheckProgress) -> Void = { _ in }
    ) async throws(StatusError) -> CheckReport {
        try await requireExistence(of: id)
        let folder = folderPath(of: id)
        return try await FileStore.check(
            path + "/" + folder,
            as: DatabaseIdentity(id),
            depth: depth,
            onFinding: { onFinding($0.inFolder(folder, of: id)) },
            onProgress: onProgress
        )
    }

    /// Repairs a database as ``FileStore/repair(_:as:after:isRebuildForced:logger:onProgress:)`` does.
    ///
    /// - Throws: `.notFound` when the database does not exist.
    package func repair(
        _ id: DatabaseID,
        after report: CheckReport? = nil,
        isRebuildForced: Bool = false,
        logger: Logger,
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(StatusError) {
        try await requireExistence(of: id)
        try await FileStore.repair(
            path(of: id),
            as: DatabaseIdentity(id),
            after: report,
            isRebuildForced: isRebuildForced,
            logger: logger,
            onProgress: onProgress
        )
    }

    /// Moves the journal of a database aside as ``FileStore/setDamagedJournalAside(_:as:)`` does.
    ///
    /// - Returns: The new path of its folder, relative to the data folder that contains all databases; `nil` if recovery can
    ///   read the journal.
    /// - Throws: `.notFound` when the database does not exist.
    package func setDamagedJournalAside(_ id: DatabaseID) async throws(StatusError) -> String? {
        try await requireExistence(of: id)
        let folder = folderPath(of: id)
        return try await FileStore.setDamagedJournalAside(path + "/" + folder, as: DatabaseIdentity(id)).map { folder + "/" + $0 }
    }

    /// Returns the finding for a database that cannot be checked.
    package func finding(_ error: StatusError, of id: DatabaseID) -> CheckFinding {
        CheckFinding(error, file: DataFolder.manifestName).inFolder(folderPath(of: id), of: id)
    }

    private func requireExistence(of id: DatabaseID) async throws(StatusError) {
        guard try await !contains(id) else { return }
        throw StatusError(.notFound, "There is no database \(Excerpt(id.description)) in the data folder.")
    }
}
