internal import Glibc

/// An open file or folder, closed when this value's life ends.
///
/// All of the store's system calls on files are here and in the extensions. Names are looked up relative to an open
/// folder, one segment at a time, and symbolic links are never followed. Interrupted calls are repeated.
struct FileDescriptor: ~Copyable, Sendable {
    /// The kernel's number for it.
    private let number: Int32

    private init(_ number: Int32) {
        self.number = number
    }

    deinit {
        _ = Glibc.close(number)
    }

    /// Repeats `body` while it is interrupted, and throws its `errno` when it returns a negative number.
    @discardableResult
    private static func call<Result: SignedInteger>(
        _ name: StaticString,
        _ body: () -> Result
    ) throws(SystemError) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemError(name) }
        }
    }
}

// MARK: - Opening

extension FileDescriptor {
    /// What a new or existing file is opened for.
    enum Access {
        /// Reading a file that exists. Never waits, whatever the name stands for.
        case reading
        /// Reading and writing a file that exists.
        case updating
        /// Writing a file that must not exist yet.
        case creating
        /// Reading and writing a file that is made when it does not exist.
        case updatingOrCreating

        fileprivate var flags: Int32 {
            switch self {
            case .reading: O_RDONLY | O_NONBLOCK
            case .updating: O_RDWR
            case .creating: O_RDWR | O_CREAT | O_EXCL
            case .updatingOrCreating: O_RDWR | O_CREAT
            }
        }
    }

    /// Opens the folder at a path of the operator's choice, in which symbolic links are followed.
    static func folder(atPath path: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(try call("open") { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    }

    /// Makes the folder at a path of the operator's choice; false when something is there already.
    static func makeFolder(atPath path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try call("mkdir") { Glibc.mkdir(path, folderMode) }
            return true
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
    }

    /// Opens a folder in this folder.
    func openFolder(_ name: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            try Self.call("openat") { Glibc.openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0) }
        )
    }

    /// Opens a folder in this folder; nil when there is none.
    func openFolderIfPresent(_ name: String) throws(SystemError) -> FileDescriptor? {
        do throws(SystemError) {
            return try openFolder(name)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Opens a file in this folder.
    func openFile(_ name: String, for access: Access) throws(SystemError) -> FileDescriptor {
        let flags = access.flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY
        return FileDescriptor(try Self.call("openat") { Glibc.openat(number, name, flags, Self.fileMode) })
    }

    /// Only the owner may read and write what the store makes.
    private static var fileMode: mode_t { 0o600 }
    private static var folderMode: mode_t { 0o700 }
}

// MARK: - Names in a folder

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

    /// Removes a file from this folder; false when there is none.
    @discardableResult
    func removeFile(_ name: String) throws(SystemError) -> Bool {
        try remove(name, flags: 0)
    }

    /// Removes an empty folder from this folder; false when there is none.
    @discardableResult
    func removeFolder(_ name: String) throws(SystemError) -> Bool {
        try remove(name, flags: AT_REMOVEDIR)
    }

    private func remove(_ name: String, flags: Int32) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Self.call("unlinkat") { Glibc.unlinkat(number, name, flags) }
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// What the name stands for in this folder, the link itself where it is a symbolic link; nil when there is nothing.
    func status(of name: String) throws(SystemError) -> FileStatus? {
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
        return try status(of: entry.text)?.kind
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

// MARK: - Contents

extension FileDescriptor {
    /// What this file is now.
    func status() throws(SystemError) -> FileStatus {
        var status = Glibc.stat()
        try Self.call("fstat") { Glibc.fstat(number, &status) }
        return FileStatus(status)
    }

    /// Replaces a file in this folder as a whole, by way of a temporary one; on disk when this returns.
    func replaceFile(_ name: String, with bytes: [UInt8], through temporaryName: String) throws(SystemError) {
        try removeFile(temporaryName)
        let file = try openFile(temporaryName, for: .creating)
        try file.write(bytes)
        try file.synchronize()
        try rename(temporaryName, to: name)
        try synchronize()
    }

    /// Forgets what the system holds of this file in memory and has written, or has failed to write: it is read from the disk
    /// again.
    func dropCached() throws(SystemError) {
        let code = posix_fadvise(number, 0, 0, Int32(POSIX_FADV_DONTNEED))
        guard code == 0 else { throw SystemError("posix_fadvise", code: code) }
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    func read(_ count: Int, at offset: Int = 0) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                do throws(SystemError) {
                    let read = try Self.call("pread") {
                        Glibc.pread(number, rest.baseAddress, rest.count, off_t(offset + filled))
                    }
                    if read == 0 { return }
                    filled += read
                } catch {
                    failure = error
                    return
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: [UInt8], at offset: Int = 0) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                do throws(SystemError) {
                    done += try Self.call("pwrite") {
                        Glibc.pwrite(number, rest.baseAddress, rest.count, off_t(offset + done))
                    }
                } catch {
                    failure = error
                    return
                }
            }
        }
        if let failure { throw failure }
    }

    /// Cuts the file off, or lengthens it with a hole.
    func truncate(to size: Int) throws(SystemError) {
        try Self.call("ftruncate") { Glibc.ftruncate(number, off_t(size)) }
    }

    /// Returns when the contents and what is needed to read them are on disk.
    func synchronizeData() throws(SystemError) {
        try Self.call("fdatasync") { Glibc.fdatasync(number) }
    }

    /// Returns when the file or folder is on disk.
    func synchronize() throws(SystemError) {
        try Self.call("fsync") { Glibc.fsync(number) }
    }

    /// Returns when all of the file system that this lies on is on disk.
    func synchronizeFileSystem() throws(SystemError) {
        guard let syncfs = Self.syncfs else {
            Glibc.sync()
            return
        }
        try Self.call("syncfs") { syncfs(number) }
    }

    /// `int syncfs(int fd)`, which Swift's Glibc module leaves out. Looked up by name, so its type is C's own.
    private static let syncfs: (@convention(c) (Int32) -> Int32)? = dlsym(nil, "syncfs").map {
        unsafeBitCast($0, to: (@convention(c) (Int32) -> Int32).self)
    }

    /// Locks the file for this process; false when another process, or another store in this one, holds the lock.
    func lock() throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Self.call("flock") { Self.changeLock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Gives up the lock.
    func unlock() {
        _ = Self.changeLock(number, LOCK_UN)
    }

    /// The type tells the function from the structure of the same name.
    private static let changeLock: @Sendable (Int32, Int32) -> Int32 = flock
}
