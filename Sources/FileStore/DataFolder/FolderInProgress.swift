internal import DocumentModel
internal import StorageIO
internal import UTF8Text

/// A new data folder that is being made beside its place, so that there is either all of it or nothing.
///
/// It is locked until it has its final name, so that another one beside it does not take it for what an interrupted one left.
struct FolderInProgress: Sendable {
    /// The path while it is being made.
    let path: String
    let folder: SharedFileDescriptor
    private let parent: SharedFileDescriptor
    private let name: String

    private static let temporaryName = TemporaryName.fixed("restore")

    /// Creates the folder. Removes what an interrupted restore or import has left.
    ///
    /// - Parameters:
    ///   - path: The path of the data folder, in an existing folder.
    ///   - advice: A sentence for the case that there is something in its place.
    /// - Throws: `.failedPrecondition` if there is something in its place, if it is in a folder for backups, or if another folder is being made beside it.
    init(at path: String, advice: String) throws(StatusError) {
        var path = path
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let parentPath = Self.parentPath(of: path)
        let parent = try Self.openParent(parentPath, of: path, name: name, advice: advice)
        self.name = name
        self.parent = parent
        self.path = parentPath + "/" + Self.temporaryName
        folder = try Self.createTemporaryFolder(in: parent)
    }

    /// Gives the folder its final name. It is durable when this returns.
    func complete() throws(StatusError) {
        try reporting("sync", Self.temporaryName) { () throws(FileSystemError) in
            try folder.descriptor.synchronizeFileSystem()
            try parent.descriptor.rename(Self.temporaryName, to: name)
            try parent.descriptor.synchronize()
        }
        folder.descriptor.unlock()
    }

    /// Removes the folder. Failures are harmless: the next one removes it.
    func discard() {
        _ = try? Self.removeTemporaryFolder(in: parent)
        folder.descriptor.unlock()
    }

    private static func parentPath(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Opens the folder that is to contain the data folder, and checks that there is nothing in its place.
    private static func openParent(
        _ parentPath: String,
        of path: String,
        name: String,
        advice: String
    ) throws(StatusError) -> SharedFileDescriptor {
        let shown = Excerpt(path, maximumBytes: 1_000)
        let (parent, isFree, isAmongBackups): (SharedFileDescriptor, Bool, Bool)
        do throws(FileSystemError) {
            parent = SharedFileDescriptor(try FileDescriptor.folder(atPath: parentPath))
            isAmongBackups = try BackupFolder.contains(parent)
            if let existing = try parent.folderIfPresent(name) {
                var listing = try existing.descriptor.openForListing()
                isFree = try listing.next() == nil
            } else {
                isFree = true
            }
        } catch {
            throw StatusError(
                error.isNotFound ? .notFound : .failedPrecondition,
                "Could not create the data folder \(shown): \(error). Its parent folder must exist.",
                cause: error
            )
        }
        guard !isAmongBackups else {
            throw StatusError(
                .failedPrecondition,
                "\(shown) is in a backup or a folder for backups. Choose a place outside for the data folder."
            )
        }
        guard isFree else { throw StatusError(.failedPrecondition, "The folder \(shown) is not empty. \(advice)") }
        return parent
    }

    private static func createTemporaryFolder(in parent: SharedFileDescriptor) throws(StatusError) -> SharedFileDescriptor {
        while true {
            let (folder, isCreated, isLocked) = try reporting("create", temporaryName) { () throws(FileSystemError) in
                let isCreated = try parent.descriptor.createFolder(temporaryName)
                let folder = SharedFileDescriptor(try parent.descriptor.openFolder(temporaryName))
                return (folder, isCreated, try folder.descriptor.lock())
            }
            guard isLocked else {
                throw StatusError(
                    .failedPrecondition,
                    "Another data folder is being made beside this one. Wait until it is complete."
                )
            }
            if isCreated { return folder }
            try removeTemporaryFolder(in: parent)
        }
    }

    private static func removeTemporaryFolder(in parent: SharedFileDescriptor) throws(StatusError) {
        try reporting("remove", temporaryName) { () throws(FileSystemError) in
            var listing = try parent.descriptor.openForListing()
            while let entry = try listing.next() {
                guard entry.name == Array(temporaryName.utf8) else { continue }
                _ = try parent.descriptor.removeTree(entry) { true }
                return
            }
        }
    }
}
