package import DocumentModel
package import DocumentStore
internal import StorageIO

/// A data folder that gets its first contents from a primary, before any server opens it.
package enum StandbyDataFolder {
    /// Returns whether there is no database at a path yet, also if the folder does not exist.
    package static func isEmpty(_ path: String) throws(StatusError) -> Bool {
        do throws(StatusError) {
            let root = try DataFolder.openExistingRoot(path)
            guard try DataFolder.readManifest(in: root) == nil else { return false }
            return try !StandbyFolder.isInstalling(in: root)
        } catch {
            guard error.code == .notFound else { throw error }
            return true
        }
    }

    /// Returns the position of the default database, as of its last checkpoint; `nil` if there is none.
    package static func position(_ path: String) throws(StatusError) -> StorePosition? {
        try DataFolder.readManifest(in: DataFolder.openExistingRoot(path)).map { manifest in
            StorePosition(
                database: nil,
                epoch: manifest.epoch.description,
                lastSequence: manifest.sequence,
                lastCommitTime: manifest.commitTime,
                oldestRetained: manifest.sequence.next,
                lineage: manifest.lineage
            )
        }
    }

    /// Creates the receiver of the first snapshot.
    package static func makeReceiver(inFolder path: String) throws(StatusError) -> any SnapshotReceiver {
        let root = try DataFolder.openRoot(path, creating: true)
        return try SnapshotFolderReceiver(of: nil, in: StandbyFolder.open(in: root))
    }

    /// Puts the received snapshot into place when the folder is opened next.
    package static func install(inFolder path: String) throws(StatusError) {
        try StandbyFolder.beginInstallation(in: DataFolder.openRoot(path, creating: true), keepingPrevious: false)
    }
}
