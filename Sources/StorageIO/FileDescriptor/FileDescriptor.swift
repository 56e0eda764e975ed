internal import CLinux
internal import Glibc

/// A file descriptor of an open file or folder, closed at the end of the value's lifetime.
///
/// All of the store's file system calls are in this type and its extensions. Names are resolved relative to an open folder, one
/// component at a time except in ``openCached(_:)``, and symbolic links are never followed. Interrupted calls are retried. Names
/// that other programs may have chosen are C strings, because they need not be UTF-8.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The descriptor number.
    let number: Int32

    /// Takes ownership of an open descriptor.
    init(_ number: Int32) {
        self.number = number
    }

    deinit {
        _ = Glibc.close(number)
    }

    /// Calls `body`, retries it on `EINTR`, and throws its `errno` if it returns a negative number.
    @discardableResult
    static func call<Result: SignedInteger>(
        _ name: StaticString,
        _ body: () -> Result
    ) throws(FileSystemError) -> Result {
        while true {
            let result = body()
            if result >= 0 { return result }
            if errno != EINTR { throw FileSystemError(name) }
        }
    }
}

extension FileDescriptor {
    /// The access mode of a file to open.
    package enum Access {
        /// Reading an existing file. Never blocks, even if the name is a FIFO.
        case reading
        /// Reading and writing an existing file.
        case updating
        /// Creating a file that must not exist.
        case creating
        /// Reading and writing a file that is created if it doesn't exist.
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

    /// Opens the folder at a path that the operator chose. Symbolic links are followed.
    package static func folder(atPath path: String) throws(FileSystemError) -> FileDescriptor {
        FileDescriptor(try call("open") { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    }

    /// Creates a folder at a path that the operator chose. Returns `false` if the path exists.
    package static func createFolder(atPath path: String) throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            try call("mkdir") { Glibc.mkdir(path, folderMode) }
            return true
        } catch {
            guard error.code == EEXIST else { throw error }
            return false
        }
    }

    /// Opens a folder in this folder.
    package func openFolder(_ name: UnsafePointer<CChar>) throws(FileSystemError) -> FileDescriptor {
        FileDescriptor(
            try Self.call("openat") { Glibc.openat(number, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0) }
        )
    }

    /// Opens a folder in this folder, or returns `nil` if it doesn't exist.
    package func openFolderIfPresent(_ name: String) throws(FileSystemError) -> FileDescriptor? {
        do throws(FileSystemError) {
            return try openFolder(name)
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Opens a file in this folder.
    package func openFile(_ name: String, for access: Access) throws(FileSystemError) -> FileDescriptor {
        let flags = access.flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY
        return FileDescriptor(try creating("openat") { Glibc.openat(number, name, flags, Self.fileMode) })
    }

    /// Opens the file at a path below this folder for `fstat`, if the kernel can resolve the path from its cache (`RESOLVE_CACHED`).
    ///
    /// Returns `nil` if the kernel cannot, if there is no file, or if the call is interrupted. Symbolic links are not followed.
    package func openCached(_ path: String) -> FileDescriptor? {
        let opened = clinux_open_cached(number, path)
        return opened >= 0 ? FileDescriptor(opened) : nil
    }

    /// Creates an unnamed file (`O_TMPFILE`) in this folder's file system. It is deleted on close unless it was linked before.
    func createUnnamedFile() throws(FileSystemError) -> FileDescriptor {
        let flags = Self.unnamed | O_RDWR | O_CLOEXEC
        return FileDescriptor(try creating("openat") { Glibc.openat(number, ".", flags, Self.fileMode) })
    }

    /// Calls a system call that may create a file or folder in this folder. The error tells whether inodes are lacking.
    @discardableResult
    func creating(_ name: StaticString, _ call: () -> Int32) throws(FileSystemError) -> Int32 {
        do throws(FileSystemError) {
            return try Self.call(name, call)
        } catch {
            guard error.isNoSpace, let inodes = try? inodes(), inodes.free == 0 else { throw error }
            var specific = error
            specific.lacksInodes = true
            throw specific
        }
    }

    /// `O_TMPFILE`, whose macro Swift cannot import. The constant is the same on all platforms of Swift.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY

    /// New files and folders are accessible to their owner, and to the group as ``GroupAccess`` allows.
    static var fileMode: mode_t { 0o660 }
    static var folderMode: mode_t { 0o770 }
}

/// A reference-counted file descriptor, closed on deallocation.
package final class SharedFileDescriptor: Sendable {
    /// The file descriptor.
    package let descriptor: FileDescriptor

    package init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }
}
