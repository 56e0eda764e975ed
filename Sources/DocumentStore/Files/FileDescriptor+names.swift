internal import Glibc

extension FileDescriptor {
    /// Makes a folder in this folder; false when the name is taken.
    @discardableResult
    func makeFolder(_ name: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Self.call("mkdirat") { Glibc.mkdirat(number, name, Self.folderMode) }
            return true
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
    }

    /// Renames a file in this folder, replacing what has the new name.
    func rename(_ name: String, to newName: String) throws(SystemError) {
        try Self.call("renameat") { Glibc.renameat(number, name, number, newName) }
    }

    /// Gives a file that has none a name in this folder, which must be free.
    func link(_ file: borrowing FileDescriptor, as name: String) throws(SystemError) {
        do throws(SystemError) {
            try Self.call("linkat") { Glibc.linkat(file.number, "", number, name, Self.emptyPath) }
        } catch {
            // Before Linux 6.10 only the privileged may do that; the others go by way of the file's place in /proc.
            guard error.isNotFound else { throw error }
            let path = "/proc/self/fd/\(file.number)"
            try Self.call("linkat") { Glibc.linkat(AT_FDCWD, path, number, name, AT_SYMLINK_FOLLOW) }
        }
    }

    /// `AT_EMPTY_PATH`, one of GNU's extensions, which Swift's Glibc module leaves out; the kernel's number for it everywhere.
    private static let emptyPath: Int32 = 0x1000

    /// Moves a file or folder of this folder to another one, where nothing has its new name.
    func rename(_ name: String, to newName: String, in other: borrowing FileDescriptor) throws(SystemError) {
        try Self.call("renameat") { Glibc.renameat(number, name, other.number, newName) }
    }

    /// Removes a file from this folder; false when there is none.
    @discardableResult
    func removeFile(_ name: UnsafePointer<CChar>) throws(SystemError) -> Bool {
        try remove(name, flags: 0)
    }

    /// Removes an empty folder from this folder; false when there is none.
    @discardableResult
    func removeFolder(_ name: UnsafePointer<CChar>) throws(SystemError) -> Bool {
        try remove(name, flags: AT_REMOVEDIR)
    }

    private func remove(_ name: UnsafePointer<CChar>, flags: Int32) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Self.call("unlinkat") { Glibc.unlinkat(number, name, flags) }
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// What the name stands for in this folder, the link itself where it is a symbolic link; nil when there is nothing.
    func status(of name: UnsafePointer<CChar>) throws(SystemError) -> FileStatus? {
        var status = Glibc.stat()
        do throws(SystemError) {
            try Self.call("fstatat") { Glibc.fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
            return FileStatus(status)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Makes sure that a name in this folder may be written to, as far as the file system tells without trying.
    func checkIsWritable(_ name: String) throws(SystemError) {
        try Self.call("faccessat") { Glibc.faccessat(number, name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) }
    }

    /// What an entry of this folder is; nil when it is gone meanwhile.
    func kind(of entry: FolderListing.Entry) throws(SystemError) -> FileStatus.Kind? {
        if let kind = entry.kind { return kind }
        return try status(of: entry.cString)?.kind
    }

    /// Opens this folder for listing, independently of other listings.
    func openForListing() throws(SystemError) -> FolderListing {
        let own = try Self.call("openat") { Glibc.openat(number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0) }
        guard let stream = fdopendir(own) else {
            let error = SystemError("fdopendir")
            _ = Glibc.close(own)
            throw error
        }
        return FolderListing(stream)
    }
}
