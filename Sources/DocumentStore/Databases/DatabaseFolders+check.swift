package import DocumentModel
package import Logging

extension DatabaseFolders {
    /// Reads everything in the folder of a database, as ``FileStore/check(_:as:onFinding:onProgress:)`` does. What it finds is
    /// placed in the data folder as a whole.
    ///
    /// - Throws: `.notFound` when there is no such database.
    package func check(
        _ id: DatabaseID,
        onFinding: @escaping @Sendable (CheckFinding) -> Void,
        onProgress: @escaping @Sendable (CheckReport) -> Void = { _ in }
    ) async throws(StatusError) -> CheckReport {
        try await requirePresence(of: id)
        let place = place(of: id)
        return try await FileStore.check(
            path + "/" + place,
            as: DatabaseIdentity(id),
            onFinding: { onFinding($0.inFolder(place, of: id)) },
            onProgress: onProgress
        )
    }

    /// Repairs a database, as ``FileStore/repair(_:as:logger:onProgress:)`` does.
    ///
    /// - Throws: `.notFound` when there is no such database.
    package func repair(
        _ id: DatabaseID,
        logger: Logger,
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(StatusError) {
        try await requirePresence(of: id)
        let identity = DatabaseIdentity(id)
        try await FileStore.repair(path + "/" + place(of: id), as: identity, logger: logger, onProgress: onProgress)
    }

    /// What is found where a database can't be looked at as a whole.
    package func finding(_ error: StatusError, of id: DatabaseID) -> CheckFinding {
        CheckFinding(error, file: DataFolder.descriptionName).inFolder(place(of: id), of: id)
    }

    private func requirePresence(of id: DatabaseID) async throws(StatusError) {
        guard try await !contains(id) else { return }
        throw StatusError(.notFound, "There is no database \(Excerpt(id.description)) in the data folder.")
    }
}
