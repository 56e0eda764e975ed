import DocumentModel

extension FileStore {
    package func storage() async -> StorageReport? {
        let parts = parts
        // Without waiting for the last commits: this tells how the store is, also when it is busy.
        let size =
            !parts.index.isReady
            ? nil : try? await parts.index.read(atLeast: .zero) { snapshot throws(StatusError) in try snapshot.size(of: nil) }
        return try? await inspectors.run { () throws(StatusError) in
            StorageReport(
                journalBytes: parts.checkpointer.journalBytes,
                maximumJournalBytes: parts.checkpointer.maximumJournalBytes,
                freeBytes: try? parts.data.root.freeBytes(),
                waitingCount: parts.uninstalled.all.count,
                size: size
            )
        }
    }
}
