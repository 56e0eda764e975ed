internal import Glibc

/// A failed file system call.
@usableFromInline
package struct FileSystemError: Error, Hashable {
    /// The name of the system call.
    let call: String
    /// Its `errno`.
    package let code: Int32
    /// True if the file system has space, but no inode for another file or folder.
    var lacksInodes = false

    package init(_ call: StaticString, code: Int32 = errno) {
        self.call = call.description
        self.code = code
    }

    /// The system's description of the error.
    var reason: String { String(cString: strerror(code)) }

    /// True if the file doesn't exist.
    package var isNotFound: Bool { code == ENOENT }
    /// True if the file system does not support the operation, or an argument is invalid.
    package var isUnsupported: Bool { code == EINVAL }

    /// True if the name is that of a symbolic link, which is never followed.
    package var isSymbolicLink: Bool { code == ELOOP }

    /// True if the file already exists.
    package var alreadyExists: Bool { code == EEXIST }

    /// True if a folder cannot be removed because it isn't empty.
    package var isNotEmpty: Bool { code == ENOTEMPTY || code == EEXIST }

    /// True if the file system doesn't support the name.
    var isInvalidName: Bool { code == EILSEQ || code == EINVAL }

    /// True if a folder is in the place of a file.
    var isFolder: Bool { code == EISDIR }

    /// True if the error is limited to a single file or folder, rather than caused by the process or the disk.
    var affectsSingleFile: Bool { code == EACCES || code == EPERM || code == EIO || isNotFolder }

    /// True if a single file or folder cannot be accessed or modified, while others can.
    package var preventsSingleFileAccess: Bool { code == EACCES || code == EPERM || isNotFolder || isFolder }

    /// True if the disk could not read or write a part of a file.
    package var isDiskFault: Bool { code == EIO }

    /// True if the file has the immutable or append-only attribute.
    package var isImmutable: Bool { code == EPERM }

    /// True if the system has no more of a limited resource, such as open files, memory or inotify watches.
    package var isResourceLimit: Bool { [EMFILE, ENFILE, ENOMEM, ENOSPC].contains(code) }

    /// True if the disk is full or a quota is exhausted.
    package var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// True if a component of the path is not a folder: a file, or a symbolic link, which is never followed.
    var isNotFolder: Bool { code == ENOTDIR || code == ELOOP }
}

extension FileSystemError: CustomStringConvertible {
    @usableFromInline
    package var description: String { "\(call): \(reason)" }
}
