internal import DocumentModel
internal import Glibc

/// What the file system says of a file.
struct FileStatus {
    /// What stands behind a name.
    enum Kind {
        case file
        case folder
        case symbolicLink
        case other
    }

    /// What it is.
    let kind: Kind
    /// Which version of which file it is.
    let identity: FileIdentity
    /// The user that it belongs to.
    let owner: UInt32

    /// Its length in bytes.
    var size: Int { Int(identity.size) }

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
    }
}

/// Tells one version of a file from another: it changes when the file is replaced, and when it is edited in place.
struct FileIdentity: Hashable {
    let inode: UInt64
    let size: Int64
    let modifiedSeconds: Int64
    let modifiedNanoseconds: Int64

    /// Whether the file was changed more than so many whole seconds ago, by the system's clock.
    func isOlder(thanSeconds seconds: Int64) -> Bool {
        modifiedSeconds < Timestamp.current().microseconds / 1_000_000 - seconds
    }
}
