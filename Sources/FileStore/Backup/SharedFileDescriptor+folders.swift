internal import StorageIO

extension SharedFileDescriptor {
    /// Opens a folder in this folder; `nil` if it does not exist.
    func folderIfPresent(_ name: String) throws(FileSystemError) -> SharedFileDescriptor? {
        guard let folder = try descriptor.openFolderIfPresent(name) else { return nil }
        return SharedFileDescriptor(folder)
    }

    /// Opens a folder in this folder, and creates it if it does not exist.
    func createdFolder(_ name: String) throws(FileSystemError) -> SharedFileDescriptor {
        try descriptor.createFolder(name)
        return SharedFileDescriptor(try descriptor.openFolder(name))
    }
}
