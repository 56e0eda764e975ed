internal import DocumentIndex
internal import DocumentModel
internal import Journal
internal import StorageIO

/// The folder `standby` in the data folder: what a server keeps that follows another one, or did.
///
/// - `incoming`: a snapshot that is being received.
/// - `install`: a complete snapshot of the default database, which takes the place of its files when the folder is opened. A crash in
///   between is harmless: the next opening continues.
/// - `replaced`, `removed`: the files that were replaced, which are removed later.
/// - `aside-N`: files that were replaced, or a database that the primary does not have, which may contain what no other place has.
/// - `set-aside-….ndjson`: commits that a promoted standby did not have; see ``SetAsideJournal``.
/// - `standby.json`: the ``StandbyRecord``.
enum StandbyFolder {
    static let name = "standby"
    static let incomingName = "incoming"
    static let installName = "install"
    static let replacedName = "replaced"
    private static let removedName = "removed"
    /// A file that says that what the next installation replaces is kept.
    private static let keepName = "keep-replaced"

    /// The parts of a database that an installation replaces, in order: the manifest last, with which the folder counts as whole.
    private static let parts =
        [
            DataFolder.documentsName, Journal.folderName, DataFolder.quarantineName, IndexDefinitions.fileName,
            StoredQuota.fileName, StoredReceipts.fileName,
        ]
        + LockedAtomicFile.Name.copied.map(\.rawValue) + [DataFolder.manifestName]
    /// The parts that a snapshot may lack, and that are removed then. A file in the snapshot says so, until that is done.
    private static let removableParts = [
        DataFolder.quarantineName, IndexDefinitions.fileName, StoredQuota.fileName, StoredReceipts.fileName,
    ]

    private static func absenceName(of part: String) -> String { part + ".absent" }

    /// Opens the folder in a data folder, creating it if needed.
    static func open(in root: borrowing FileDescriptor) throws(StatusError) -> SharedFileDescriptor {
        try reporting("create", name) { () throws(FileSystemError) in
            if try root.createFolder(name) { try root.synchronize() }
            return SharedFileDescriptor(try root.openFolder(name))
        }
    }

    private static func openIfPresent(in root: borrowing FileDescriptor) throws(StatusError) -> SharedFileDescriptor? {
        try reporting("open", name) { () throws(FileSystemError) in
            guard let folder = try root.openFolderIfPresent(name) else { return nil }
            return SharedFileDescriptor(folder)
        }
    }

    /// Returns whether the installation of a snapshot has begun, so that the data folder may lack a part.
    static func isInstalling(in root: borrowing FileDescriptor) throws(StatusError) -> Bool {
        guard let folder = try openIfPresent(in: root) else { return false }
        return try reporting("open", name) { () throws(FileSystemError) in try folder.descriptor.status(of: installName) != nil }
    }

    /// Makes the received snapshot the one to be installed. Durable when this returns.
    static func beginInstallation(in root: borrowing FileDescriptor, keepingPrevious: Bool) throws(StatusError) {
        let folder = try open(in: root)
        try remove(replacedName, in: folder)
        try reporting("write", name) { () throws(FileSystemError) in
            if keepingPrevious {
                _ = try folder.descriptor.openFile(keepName, for: .updatingOrCreating)
            } else {
                try folder.descriptor.removeFile(keepName)
            }
            try folder.descriptor.synchronize()
            let incoming = try folder.descriptor.openFolder(incomingName)
            for name in removableParts where try incoming.status(of: name) == nil {
                _ = try incoming.openFile(absenceName(of: name), for: .updatingOrCreating)
            }
            try incoming.synchronize()
            try folder.descriptor.rename(incomingName, to: installName)
            try folder.descriptor.synchronize()
        }
    }

    /// Puts the parts of a complete snapshot into place, if there is one. The data folder must be locked.
    ///
    /// Each part of the snapshot is moved after that of the data folder was moved away, and every step is synced. So a part that is
    /// still in the snapshot has not been installed.
    static func completeInstallation(in root: borrowing FileDescriptor) throws(StatusError) {
        guard try isInstalling(in: root), let folder = try openIfPresent(in: root) else { return }
        try reporting("install the snapshot in", name) { () throws(FileSystemError) in
            let install = SharedFileDescriptor(try folder.descriptor.openFolder(installName))
            let replaced = try folder.createdFolder(replacedName)
            try folder.descriptor.synchronize()
            for name in parts {
                if name == DataFolder.manifestName {
                    // An index of what was replaced must not be taken for that of the snapshot.
                    for name in IndexFile.allNames { try root.removeFile(name) }
                }
                let hasSuccessor = try install.descriptor.status(of: name) != nil
                let isRemoved = try install.descriptor.status(of: absenceName(of: name)) != nil
                guard hasSuccessor || isRemoved else { continue }
                if try root.status(of: name) != nil {
                    try root.rename(name, to: name, in: replaced.descriptor)
                    try replaced.descriptor.synchronize()
                    try root.synchronize()
                }
                if isRemoved {
                    try install.descriptor.removeFile(absenceName(of: name))
                    continue
                }
                try install.descriptor.rename(name, to: name, in: root)
                try root.synchronize()
                try install.descriptor.synchronize()
            }
            if try folder.descriptor.status(of: keepName) != nil {
                try folder.descriptor.rename(replacedName, to: unusedAsideName(in: folder))
                try folder.descriptor.removeFile(keepName)
            }
            try folder.descriptor.removeFolder(installName)
            try folder.descriptor.synchronize()
        }
    }

    /// Returns a name for something that is kept.
    static func unusedAsideName(in folder: SharedFileDescriptor) throws(FileSystemError) -> String {
        var number = 1
        while try folder.descriptor.status(of: "aside-\(number)") != nil { number += 1 }
        return "aside-\(number)"
    }

    /// Returns the paths of what is kept for people to look at: folders and commits that were set aside.
    static func setAside(in root: borrowing FileDescriptor) throws(StatusError) -> [String] {
        guard let folder = try openIfPresent(in: root) else { return [] }
        return try reporting("list", name) { () throws(FileSystemError) in
            var paths: [String] = []
            var listing = try folder.descriptor.openForListing()
            while let entry = try listing.next() {
                let name = entry.text
                if name.hasPrefix("aside-") || name.hasPrefix("set-aside-") { paths.append("\(Self.name)/\(name)") }
            }
            return paths.sorted()
        }
    }

    /// Removes an entry of the folder, if it exists.
    ///
    /// - Parameter continues: Returns false to stop: a further call continues.
    static func remove(
        _ name: String,
        in folder: SharedFileDescriptor,
        while continues: () -> Bool = { true }
    ) throws(StatusError) {
        try reporting("remove", "\(Self.name)/\(name)") { () throws(FileSystemError) in
            var listing = try folder.descriptor.openForListing()
            while let entry = try listing.next() {
                guard entry.name == Array(name.utf8) else { continue }
                _ = try folder.descriptor.removeTree(entry, while: continues)
                return
            }
        }
    }

    /// Removes what was replaced. What is replaced meanwhile is removed by the next call.
    ///
    /// - Parameter continues: Returns false to stop: a further call continues.
    static func removeReplaced(in folder: SharedFileDescriptor, while continues: () -> Bool) throws(StatusError) {
        try remove(removedName, in: folder, while: continues)
        let isRenamed = try reporting("remove", name) { () throws(FileSystemError) in
            guard try folder.descriptor.status(of: replacedName) != nil, try folder.descriptor.status(of: removedName) == nil
            else {
                return false
            }
            try folder.descriptor.rename(replacedName, to: removedName)
            return true
        }
        if isRenamed { try remove(removedName, in: folder, while: continues) }
    }

    /// Moves a folder of a database into this one.
    ///
    /// - Parameter keeps: True to keep it; false to have it removed later.
    /// - Returns: The folder that it is in, and its name there.
    static func moveAside(
        _ name: String,
        from other: borrowing FileDescriptor,
        keeping keeps: Bool,
        in folder: SharedFileDescriptor
    ) throws(FileSystemError) -> (folder: SharedFileDescriptor, name: String) {
        if keeps {
            let newName = try unusedAsideName(in: folder)
            try other.rename(name, to: newName, in: folder.descriptor)
            try folder.descriptor.synchronize()
            return (folder, newName)
        }
        let replaced = try folder.createdFolder(replacedName)
        var number = 1
        while try replaced.descriptor.status(of: "database-\(number)") != nil { number += 1 }
        let newName = "database-\(number)"
        try other.rename(name, to: newName, in: replaced.descriptor)
        try replaced.descriptor.synchronize()
        return (replaced, newName)
    }
}
