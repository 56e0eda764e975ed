import DocumentModel

extension FileStore {
    package func storage() async -> StorageReport? {
        let parts = parts
        return try? await readers.run { () throws(StatusError) in
            StorageReport(
                journalBytes: parts.checkpointer.journalBytes,
                maximumJournalBytes: parts.checkpointer.maximumJournalBytes,
                freeBytes: try? parts.data.root.freeBytes(),
                waitingCount: parts.uninstalled.all.count
            )
        }
    }
}
