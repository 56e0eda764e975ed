internal import CLinux
internal import Glibc

extension FileDescriptor {
    /// Creates a folder in this folder. Returns `false` if the name exists.
    @discardableResult
    package func createFolder(_ name: String) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            try creating("mkdirat") { Glibc.mkdirat(number, name, Self.folderMode) }
            return true
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
    }

    /// Renames a file in this folder, replacing an existing file.
    package func rename(_ name: String, to newName: String) throws(FileSystemError) {
        try Self.call("renameat") { Glibc.renameat(number, name, number, newName) }
    }

    /// Renames an entry of this folder to a name that doesn't exist yet.
    ///
    /// An entry that is created at the same time is replaced if the file system cannot rename in this way.
    ///
    /// - Throws: `EEXIST` if the name exists.
    package func renameWithoutReplacing(_ name: String, to newName: String) throws(FileSystemError) {
        do throws(FileSystemError) {
            try Self.call("renameat2") { clinux_rename_new(number, name, newName) }
        } catch {
            guard error.code == EINVAL else { throw error }
            guard try status(of: newName) == nil else { throw FileSystemError("renameat2", code: EEXIST) }
            try rename(name, to: newName)
        }
    }

    /// Exchanges the names of two entries of this folder atomically, if the file system supports it.
    func exchange(_ name: String, with other: String) throws(FileSystemError) {
        try Self.call("renameat2") { clinux_exchange(number, name, number, other) }
    }

    /// Exchanges an entry of this folder with one of another folder atomically. Fails with `EINVAL` if the file system does not support
    /// it.
    package func exchange(
        _ name: String,
        with other: String,
        in folder: borrowing FileDescriptor
    ) throws(FileSystemError) {
        try Self.call("renameat2") { clinux_exchange(number, name, folder.number, other) }
    }

    /// Links an open file into this folder under a name that doesn't exist yet.
    package func link(_ file: borrowing FileDescriptor, as name: String) throws(FileSystemError) {
        do throws(FileSystemError) {
            try Self.call("linkat") { Glibc.linkat(file.number, "", number, name, Self.emptyPath) }
        } catch {
            // Before Linux 6.10 this requires a capability. Without it, the file is linked through /proc.
            guard error.isNotFound else { throw error }
            let path = "/proc/self/fd/\(file.number)"
            try Self.call("linkat") { Glibc.linkat(AT_FDCWD, path, number, name, AT_SYMLINK_FOLLOW) }
        }
    }

    /// Gives a file of this folder the same name in another folder, in which there is none. Returns `false` if the file cannot have
    /// another name there: in another file system, without permission, or with too many names.
    package func link(_ name: String, in other: borrowing FileDescriptor) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            try Self.call("linkat") { Glibc.linkat(number, name, other.number, name, 0) }
            return true
        } catch {
            guard [EXDEV, EMLINK, EPERM, EOPNOTSUPP].contains(error.code) else { throw error }
            return false
        }
    }

    /// `AT_EMPTY_PATH`, which Swift's Glibc module doesn't export. The constant is the same on all architectures.
    private static let emptyPath: Int32 = 0x1000

    /// Moves a file or folder to another folder, to a name that doesn't exist there.
    package func rename(_ name: String, to newName: String, in other: borrowing FileDescriptor) throws(FileSystemError) {
        try Self.call("renameat") { Glibc.renameat(number, name, other.number, newName) }
    }

    /// Removes a file from this folder. Returns `false` if it doesn't exist.
    @discardableResult
    package func removeFile(_ name: UnsafePointer<CChar>) throws(FileSystemError) -> Bool {
        try remove(name, flags: 0)
    }

    /// Removes an empty folder from this folder. Returns `false` if it doesn't exist.
    @discardableResult
    package func removeFolder(_ name: UnsafePointer<CChar>) throws(FileSystemError) -> Bool {
        try remove(name, flags: AT_REMOVEDIR)
    }

    private func remove(_ name: UnsafePointer<CChar>, flags: Int32) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            try Self.call("unlinkat") { Glibc.unlinkat(number, name, flags) }
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// Returns the status of an entry of this folder without following symbolic links, or `nil` if it doesn't exist.
    package func status(of name: UnsafePointer<CChar>) throws(FileSystemError) -> FileStatus? {
        var status = Glibc.stat()
        do throws(FileSystemError) {
            try Self.call("fstatat") { Glibc.fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
            return FileStatus(status)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Returns the status of an entry whose name need not be UTF-8, as ``status(of:)`` does.
    package func status(of name: [UInt8]) throws(FileSystemError) -> FileStatus? {
        try status(of: name.map { CChar(bitPattern: $0) } + [0])
    }

    /// Checks the write permission of an entry of this folder (`faccessat`).
    package func checkIsWritable(_ name: String) throws(FileSystemError) {
        try Self.call("faccessat") { Glibc.faccessat(number, name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) }
    }

    /// Returns the kind of an entry of this folder, or `nil` if it was removed in the meantime.
    package func kind(of entry: FolderListing.Entry) throws(FileSystemError) -> FileStatus.Kind? {
        if let kind = entry.kind { return kind }
        return try status(of: entry.cString)?.kind
    }

    /// Returns whether this folder is another one, or anywhere in it.
    package func isInside(_ other: borrowing FileDescriptor) throws(FileSystemError) -> Bool {
        let wanted = try other.status().fileID
        var folder = try openFolder(".")
        var found = try folder.status().fileID
        while found != wanted {
            let parent = try folder.openFolder("..")
            let above = try parent.status().fileID
            // The parent of the topmost folder is itself.
            guard above != found else { return false }
            folder = parent
            found = above
        }
        return true
    }

    /// Opens a listing of this folder with its own position.
    package func openForListing() throws(FileSystemError) -> FolderListing {
        let own = try Self.call("openat") { Glibc.openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
        guard let stream = fdopendir(own) else {
            let error = FileSystemError("fdopendir")
            _ = Glibc.close(own)
            throw error
        }
        return FolderListing(stream)
    }
}

extension FileDescriptor {
    /// Removes an entry of this folder, recursively for a folder, while `shouldContinue` returns `true`. Symbolic links are
    /// removed, not followed.
    ///
    /// Names need not be UTF-8. The recursion is as deep as the folders are nested.
    ///
    /// - Returns: `true` if the removal is complete.
    package func removeTree(_ entry: FolderListing.Entry, while shouldContinue: () -> Bool) throws(FileSystemError) -> Bool {
        guard shouldContinue() else { return false }
        guard try kind(of: entry) == .folder else {
            try removeFile(entry.cString)
            return true
        }
        guard try openFolder(entry.cString).removeContents(while: shouldContinue) else { return false }
        try removeFolder(entry.cString)
        return true
    }

    /// Removes all entries of this folder. Entries may be removed during the listing: POSIX only leaves unspecified whether an entry
    /// that is removed before it was returned is still listed.
    private func removeContents(while shouldContinue: () -> Bool) throws(FileSystemError) -> Bool {
        var listing = try openForListing()
        while let entry = try listing.next() {
            guard try removeTree(entry, while: shouldContinue) else { return false }
        }
        return true
    }
}
