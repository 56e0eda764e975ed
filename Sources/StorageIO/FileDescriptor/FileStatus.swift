internal import Glibc

/// The status of a file (`stat`).
package struct FileStatus {
    /// The type of a file.
    package enum Kind {
        case file
        case folder
        case symbolicLink
        case other
    }

    /// The type.
    package let kind: Kind
    /// The identity of the file's current version.
    package let identity: FileIdentity
    /// The user ID of the owner.
    package let owner: UInt32
    /// The time of the last change of the contents or the status, in microseconds since 1970. Programs cannot set it.
    package let changeMicroseconds: Int64
    /// The number of names that the file has (hard links).
    package let linkCount: Int
    /// The file, which keeps its ID when it is modified or renamed.
    package let fileID: FileID

    /// The size in bytes.
    package var size: Int { Int(identity.size) }

    init(_ status: Glibc.stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .symbolicLink
            default: .other
            }
        identity = FileIdentity(
            inode: UInt64(status.st_ino),
            size: Int64(status.st_size),
            modifiedSeconds: Int64(status.st_mtim.tv_sec),
            modifiedNanoseconds: Int64(status.st_mtim.tv_nsec)
        )
        owner = status.st_uid
        changeMicroseconds = Int64(status.st_ctim.tv_sec) &* 1_000_000 &+ Int64(status.st_ctim.tv_nsec) / 1_000
        linkCount = Int(status.st_nlink)
        fileID = FileID(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

/// The ID of an existing file or folder. It may be used again once the file is removed.
package struct FileID: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
}

/// The identity of a version of a file. It changes if the file is replaced or modified in place.
package struct FileIdentity: Hashable, Sendable {
    package let inode: UInt64
    package let size: Int64
    package let modifiedSeconds: Int64
    let modifiedNanoseconds: Int64

    /// The identity of no file.
    package static let none = FileIdentity(inode: 0, size: 0, modifiedSeconds: 0, modifiedNanoseconds: 0)

    /// The modification time in microseconds since 1970, rounded down.
    package var modifiedMicroseconds: Int64 {
        let (microseconds, isOverflow) = modifiedSeconds.multipliedReportingOverflow(by: 1_000_000)
        return isOverflow ? (modifiedSeconds < 0 ? .min : .max) : microseconds &+ modifiedNanoseconds / 1_000
    }

    /// Returns whether the file was modified more than `seconds` ago, according to the system clock.
    package func isOlder(thanSeconds seconds: Int64) -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return modifiedSeconds < Int64(now.tv_sec) - seconds
    }
}
