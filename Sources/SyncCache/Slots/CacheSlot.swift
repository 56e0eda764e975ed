internal import DocumentModel

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A folder for the files of one cache, which no other process uses while the object lives.
package final class CacheSlot: Sendable {
    /// The name of the file that is locked.
    static let lockName = "lock"

    /// The number of the slot.
    package let number: Int
    /// The path of the folder.
    package let path: String
    private let lock: Int32

    private init(number: Int, path: String, lock: Int32) {
        self.number = number
        self.path = path
        self.lock = lock
    }

    deinit {
        // A process that is being started holds a copy of the descriptor for a moment, which would keep the lock.
        _ = flock(lock, LOCK_UN)
        close(lock)
    }

    /// Locks a slot, which is created if there is none; `nil` if it is held, by this process or another one.
    static func take(_ number: Int, in base: String) throws(StatusError) -> CacheSlot? {
        let path = base + "/\(number)"
        let lockPath = path + "/" + lockName
        while true {
            try PrivateFile.createFolder(path)
            let file = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else {
                // A process may have cleared the slot since the folder was created.
                if errno == ENOENT { continue }
                throw PrivateFile.error("opened", lockPath)
            }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                defer { close(file) }
                guard errno == EWOULDBLOCK else { throw PrivateFile.error("locked", lockPath) }
                return nil
            }
            if isCurrent(file, lockPath) { return CacheSlot(number: number, path: path, lock: file) }
            // The file was removed before it was locked, and the lock protects nothing.
            close(file)
        }
    }

    /// True if the lock protects the folder: it has not been removed since.
    var isCurrent: Bool { Self.isCurrent(lock, path + "/" + Self.lockName) }

    private static func isCurrent(_ file: Int32, _ path: String) -> Bool {
        var (locked, named) = (stat(), stat())
        return fstat(file, &locked) == 0 && stat(path, &named) == 0
            && locked.st_ino == named.st_ino && locked.st_dev == named.st_dev
    }

    /// Removes the files, and the folder.
    func clear() throws(StatusError) {
        // The lock last: until then no other process uses the folder.
        for name in try PrivateFile.names(in: path) where name != Self.lockName { try PrivateFile.remove(path + "/" + name) }
        try PrivateFile.remove(path + "/" + Self.lockName)
        try PrivateFile.removeFolder(path)
    }
}
