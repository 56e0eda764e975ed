package import DocumentModel
package import DocumentStore
internal import Journal
package import Logging
internal import StorageIO

extension FileStore {
    /// Repairs a data folder without losing user data: recovers a database that was not closed, removes temporary files, sets
    /// damaged journal segments aside, rebuilds the index, and accepts documents that were removed, renamed or replaced by hand.
    /// Damaged documents are left unchanged.
    ///
    /// - Parameters:
    ///   - folder: A data folder that ``check(_:as:depth:onFinding:onProgress:)`` can read.
    ///   - identity: The identity that the folder must have.
    ///   - report: The result of a check; `nil` if there was none.
    ///   - isRebuildForced: Whether the index is rebuilt even if the check found it intact.
    ///   - onProgress: Called repeatedly with the number of indexed documents.
    /// - Throws: The errors of ``open(_:logger:)``; `.unavailable` or `.resourceExhausted` when the index cannot be built.
    package static func repair(
        _ folder: String,
        as identity: DatabaseIdentity = DatabaseIdentity(),
        after report: CheckReport? = nil,
        isRebuildForced: Bool = false,
        logger: Logger,
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws(StatusError) {
        var configuration = FileStoreConfiguration(folder: folder)
        configuration.identity = identity
        configuration.searchesForEditedFiles = false
        configuration.rebuildsIndex = isRebuildForced || report?.isIndexIntact != true
        let store = try await open(configuration, logger: logger)
        let (data, components) = (store.data, store.components)
        let repairError: StatusError?
        do throws(StatusError) {
            try await store.scanQueue.run { () throws(StatusError) in
                var sweep = TemporaryFileSweep()
                try sweep.run(in: data.documents, DataFolder.documentsName)
                // While documents are quarantined, the journal is needed.
                guard data.manifest.isClean else { return }
                try setDamagedHistoryAside(data, components)
            }
            try await store.waitUntilIndexed(onProgress: onProgress)
            repairError = nil
        } catch {
            repairError = error
        }
        if let failure = await store.close() ?? repairError { throw failure }
        try await accept(folder, latestUpdateTime: report?.latestUpdateTime)
    }

    /// Moves the damaged segments of the journal, and those before them, to a folder in the data folder.
    private static func setDamagedHistoryAside(_ data: DataFolder, _ components: StoreComponents) throws(StatusError) {
        try components.history.journal.moveDamaged(before: components.feed.position.lastSequence.next) {
            () throws(StatusError) in
            let (name, folder) = try data.createAsideFolder(for: Journal.folderName)
            components.logger.warning(
                "Moving damaged segments of the journal, and those before them, to another folder",
                metadata: ["file.path": "\(name)"]
            )
            return folder
        }
    }

    /// Records that the document files are accepted as they are, unless documents are quarantined.
    ///
    /// - Parameter latestUpdateTime: The latest update time of the documents, which the next commit time must follow; `nil` if it
    ///   is unknown.
    private static func accept(_ folder: String, latestUpdateTime: Timestamp?) async throws(StatusError) {
        try await WorkQueue(label: "hearth.check", width: 1).run { () throws(StatusError) in
            let data = try DataFolder.inspect(folder)
            defer { data.unlock() }
            guard data.manifest.isClean else { return }
            try data.update { manifest in
                manifest.acceptedSequence = manifest.sequence
                manifest.commitTime = [manifest.commitTime, latestUpdateTime].compactMap { $0 }.max()
            }
        }
    }

    /// Moves a journal that recovery cannot read aside, so that the database opens with the documents in their current state.
    ///
    /// - Returns: The new name of its folder, in the data folder; `nil` if recovery can read the journal, which is then left in
    ///   place.
    package static func setDamagedJournalAside(
        _ folder: String,
        as identity: DatabaseIdentity = DatabaseIdentity()
    ) async throws(StatusError) -> String? {
        try await WorkQueue(label: "hearth.check", width: 1).run { () throws(StatusError) in
            let data = try DataFolder.inspect(folder)
            defer { data.unlock() }
            try data.manifest.check(identity)
            guard try data.contains(Journal.folderName) else { return nil }
            do throws(StatusError) {
                try Journal.checkIsRecoverable(data.openJournal(), Journal.RecoveryOptions(data.manifest))
                return nil
            } catch {
                guard error.code == .dataLoss else { throw error }
            }
            // Its space is of no use there.
            _ = try? data.openJournal().removeFile(DiskReserve.fileName)
            return try data.setAside(Journal.folderName)
        }
    }
}
