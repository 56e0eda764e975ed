package import DocumentModel
package import StorageIO

extension LockedAtomicFile {
    /// The files of this type in a data folder.
    package enum Name: String, CaseIterable, Sendable {
        /// The API keys.
        case keys = "keys.json"
        /// The security rules of the database.
        case rules = "firestore.rules"
        /// The security rules that later ones have replaced.
        case rulesHistory = "rules-history.json"
        /// The activity of the server over the last week.
        case activity = "activity.samples"
    }
}

extension AtomicRecord where Self == LockedAtomicFile {
    /// Opens a file in a data folder, which may be open in a server. The file need not exist.
    ///
    /// - Parameter createsFolder: True to create the data folder if it doesn't exist.
    /// - Throws: `.notFound` if the folder doesn't exist; `.failedPrecondition` if it is not a data folder, or belongs to another
    ///   user.
    package static func open(
        _ name: LockedAtomicFile.Name,
        inFolder path: String,
        creatingFolder createsFolder: Bool = false
    ) async throws(StatusError) -> LockedAtomicFile {
        let queue = WorkQueue(label: "hearth.\(name)", width: 1)
        let root = try await queue.run { () throws(StatusError) in
            SharedFileDescriptor(try DataFolder.openRoot(path, creating: createsFolder))
        }
        return LockedAtomicFile(name.rawValue, in: root, queue: queue, isPrivate: name == .keys)
    }
}

extension LockedAtomicFile.Name {
    /// The files with data, which backups and standbys have, too. Each server has its own activity.
    static var copied: [Self] {
        allCases.filter { name in
            switch name {
            case .keys, .rules, .rulesHistory: true
            case .activity: false
            }
        }
    }

    /// The names of files that may exist before the data folder has a manifest.
    static var fileNames: [String] {
        allCases.flatMap { [$0.rawValue, LockedAtomicFile.lockName(of: $0.rawValue)] }
    }
}
