internal import DocumentIndex
internal import DocumentModel
internal import StorageIO

// Files at the top level of the data folder.

extension DataFolder {
    /// The temporary names of top-level files, one per file, since several may be written concurrently.
    static let temporaryFileNames = [
        IndexDefinitions.fileName, StoredQuota.fileName, StoredReceipts.fileName, quarantineName,
    ].map(TemporaryName.fixed)

    /// Returns the identity of a top-level file, or `nil` if there is no regular file of that name.
    func identity(ofFile name: String) throws(StatusError) -> FileIdentity? {
        let status = try reporting("get the status of", name) { () throws(FileSystemError) in try root.status(of: name) }
        return status?.kind == .file ? status?.identity : nil
    }

    /// Opens a top-level file for reading.
    func openFile(_ name: String) throws(StatusError) -> FileDescriptor {
        try reporting("open", name) { () throws(FileSystemError) in try root.openFile(name, for: .reading) }
    }

    /// Creates an empty top-level file.
    func createFile(_ name: String) throws(StatusError) {
        try reporting("create", name) { () throws(FileSystemError) in _ = try root.openFile(name, for: .creating) }
    }

    /// Creates an empty top-level file and unlinks it, so that it is deleted on close.
    func createUnlinkedFile(_ name: String) throws(StatusError) -> FileDescriptor {
        try reporting("create", name) { () throws(FileSystemError) in
            let file = try root.openFile(name, for: .creating)
            try root.removeFile(name)
            return file
        }
    }

    /// Reads up to `maximumBytes` bytes of a top-level file, or returns `nil` if it doesn't exist.
    func contents(ofFile name: String, maximumBytes: Int = 16 << 20) throws(StatusError) -> [UInt8]? {
        try reporting("read", name) { () throws(FileSystemError) in
            try root.contents(ofFile: name, maximumBytes: maximumBytes)
        }
    }

    /// Replaces a top-level file atomically. Durable when this returns.
    func replaceFile(_ name: String, with bytes: [UInt8]) throws(StatusError) {
        try reporting("write", name) { () throws(FileSystemError) in
            try root.replaceFile(name, with: bytes, through: TemporaryName.fixed(name))
        }
    }

    /// Removes a top-level file, if it exists.
    func removeFile(_ name: String) throws(StatusError) {
        try reporting("remove", name) { () throws(FileSystemError) in _ = try root.removeFile(name) }
    }

    /// Renames a top-level file or folder to the first unused name with a number appended.
    func moveAside(_ name: String) throws(StatusError) {
        _ = try renameAside(name)
    }

    /// Renames a top-level file or folder like ``moveAside(_:)``; durable when this returns.
    ///
    /// - Returns: The new name.
    func setAside(_ name: String) throws(StatusError) -> String {
        let newName = try renameAside(name)
        try reporting("sync", ".") { () throws(FileSystemError) in try root.synchronize() }
        return newName
    }

    private func renameAside(_ name: String) throws(StatusError) -> String {
        try reporting("move", name) { () throws(FileSystemError) in
            let newName = try unusedAsideName(of: name)
            try root.rename(name, to: newName)
            return newName
        }
    }

    /// Creates a folder for parts of a top-level folder that are set aside; returns its name too. Its name is durable when this
    /// returns.
    func createAsideFolder(for name: String) throws(StatusError) -> (name: String, folder: SharedFileDescriptor) {
        try reporting("create a folder for", name) { () throws(FileSystemError) in
            let newName = try unusedAsideName(of: name)
            try root.createFolder(newName)
            try root.synchronize()
            return (newName, SharedFileDescriptor(try root.openFolder(newName)))
        }
    }

    private func unusedAsideName(of name: String) throws(FileSystemError) -> String {
        var number = 1
        while try root.status(of: "\(name).aside-\(number)") != nil { number += 1 }
        return "\(name).aside-\(number)"
    }

    /// Returns whether a top-level file or folder exists.
    func contains(_ name: String) throws(StatusError) -> Bool {
        try reporting("get the status of", name) { () throws(FileSystemError) in try root.status(of: name) != nil }
    }

    /// Syncs a top-level file.
    func synchronizeFile(_ name: String) throws(StatusError) {
        try reporting("sync", name) { () throws(FileSystemError) in try root.openFile(name, for: .updating).synchronize() }
    }
}
