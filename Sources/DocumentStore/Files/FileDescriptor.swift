internal import CLinux
internal import Glibc

/// An open file or folder, closed when this value's life ends.
///
/// All of the store's system calls on files are here and in the extensions. Names are looked up relative to an open
/// folder, one segment at a time but in ``openInMemory(_:)``, and symbolic links are never followed. Interrupted calls are repeated,
/// where nobody else would do the work. Names are C strings where
/// they may be of people's making, which need not be UTF-8; a `String` is passed as it is.
struct FileDescriptor: ~Copyable, Sendable {
    /// The kernel's number for it.
    let number: Int32

    private init(_ number: Int32) {
        self.number = number
    }

    deinit {
        _ = Glibc.close(number)
    }

    /// Repeats `body` while it is interrupted, and throws its `errno` when it returns a negative number.
    @discardableResult
    static func call<Result: SignedInteger>(
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
    func openFolder(_ name: UnsafePointer<CChar>) throws(SystemError) -> FileDescriptor {
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

    /// Opens what is at a path below this folder for asking what it is, when the system knows the whole way without reading a disk;
    /// nil when it does not, when nothing is there, and when the call is interrupted. Follows no link.
    func openInMemory(_ path: String) -> FileDescriptor? {
        let opened = clinux_open_in_memory(number, path)
        return opened >= 0 ? FileDescriptor(opened) : nil
    }

    /// Makes a file in this folder's file system that has no name, and is gone when it is closed before it was given one.
    func makeUnnamedFile() throws(SystemError) -> FileDescriptor {
        let flags = Self.unnamed | O_RDWR | O_CLOEXEC
        return FileDescriptor(try Self.call("openat") { Glibc.openat(number, ".", flags, Self.fileMode) })
    }

    /// `O_TMPFILE`, whose definition is too much for Swift; this part of it is the same on all machines that Swift runs on.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY

    /// Only the owner may read and write what the store makes.
    static var fileMode: mode_t { 0o600 }
    static var folderMode: mode_t { 0o700 }
}
