internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import StorageIO

extension FileStore {
    /// Copies the store into a backup as of one commit, while it is read and written.
    ///
    /// The document files are copied first, one after the other. Then the commits that were made since the last checkpoint before, up to
    /// the last one that any of the copies may show, are applied to the copies: afterward all are as of that commit, and the copy is
    /// complete without its journal, as that of a store that was closed.
    ///
    /// - Parameters:
    ///   - id: The database; `nil` for the default one.
    ///   - folder: The folder of the copy, relative to the backup.
    ///   - includesKeys: True to copy the API keys.
    /// - Returns: The state of the database in the backup.
    func backUp(
        as id: DatabaseID?,
        to backup: BackupWriter,
        folder: String?,
        includesKeys: Bool
    ) async throws(StatusError) -> Backup.Database {
        let (journal, components) = (components.checkpointer.journal, components)
        // In this order: segments that the manifest needs are not removed from here on.
        let retention = journal.retainSegments()
        let (manifest, quarantined) = try components.checkpointer.quarantine.recorded()
        let queue = WorkQueue(label: "hearth.backup", width: 1, qos: .utility)
        let (copy, stored) = try await queue.run { () throws(StatusError) in
            // Before the last commit is known, which the receipts must not be ahead of.
            let receipts = try StoredReceipts.read(in: components.data)
            let copy = try StoreCopy(components.data, to: backup, folder: folder)
            try copy.copyDocuments()
            return (copy, receipts)
        }
        // After the last document was read: what a later commit wrote is in none of the copies.
        let position = try await safePosition()
        return try await queue.run { () throws(StatusError) in
            var receipts = stored
            do throws(StatusError) {
                try copy.copyJournal(journal, after: manifest, through: position.lastSequence)
                try copy.apply(
                    quarantined,
                    journal,
                    after: manifest.sequence,
                    through: position.lastSequence,
                    &receipts,
                    components.logger
                )
            } catch {
                try retention.check()
                throw error
            }
            try retention.check()
            try copy.copyFiles(includingKeys: includesKeys)
            try copy.write(receipts)
            try copy.write(manifest, at: position, with: receipts)
            return Backup.Database(
                id: id,
                epoch: journal.epoch,
                lastSequence: position.lastSequence,
                lastCommitTime: position.lastCommitTime
            )
        }
    }
}
