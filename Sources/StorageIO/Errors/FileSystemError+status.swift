public import DocumentModel
internal import Glibc

extension FileSystemError {
    /// Converts the error to a `StatusError` for the store's callers.
    ///
    /// - Parameters:
    ///   - action: The verb of the failed action, such as "write".
    ///   - filePath: The path of the file, relative to the folder.
    ///   - folder: The folder, in words.
    @usableFromInline
    package func status(_ action: String, _ filePath: String, in folder: String = "the data folder") -> StatusError {
        let what = "Could not \(action) \(filePath) in \(folder)"
        return switch code {
        case ENOSPC where lacksInodes:
            StatusError(
                .resourceExhausted,
                "\(what): no inodes left on the disk (see df -i). Every file takes one, however small. Delete documents or other "
                    + "files, or move \(folder) to a disk with more inodes.",
                cause: self
            )
        case ENOSPC:
            StatusError(
                .resourceExhausted,
                "\(what): no space left on the disk. Free some space, or move \(folder) to a larger disk.",
                cause: self
            )
        case EDQUOT:
            StatusError(
                .resourceExhausted,
                "\(what): disk quota exceeded. Free some space, or increase the quota.",
                cause: self
            )
        case EMFILE, ENFILE:
            StatusError(.unavailable, "\(what): too many open files. Increase the limit on open files (ulimit -n).", cause: self)
        case EPERM:
            StatusError(
                .unavailable,
                "\(what): operation not permitted. The file may have the immutable or append-only attribute (see lsattr and "
                    + "chattr -ia), or belong to another user.",
                cause: self
            )
        case EACCES:
            StatusError(
                .unavailable,
                "\(what): permission denied. That folder and its contents must belong to the user that runs Hearth.",
                cause: self
            )
        case EROFS:
            StatusError(.unavailable, "\(what): the file system is read-only. Mount it read-write.", cause: self)
        case EIO:
            StatusError(
                .unavailable,
                "\(what): input/output error. The disk may be failing; check the system log.",
                cause: self
            )
        case ELOOP:
            StatusError(
                .failedPrecondition,
                "\(what): it is a symbolic link, which Hearth doesn't follow. Replace it with the file or folder itself.",
                cause: self
            )
        case ENOTDIR:
            StatusError(
                .failedPrecondition,
                "\(what): expected a folder, found a file or symbolic link. Move it elsewhere.",
                cause: self
            )
        case EISDIR, ENOTEMPTY, EEXIST:
            StatusError(
                .failedPrecondition,
                "\(what): another file or folder with that name exists. Move it elsewhere.",
                cause: self
            )
        default:
            StatusError(.unavailable, "\(what): \(reason).", cause: self)
        }
    }
}

extension FileSystemError {
    /// Converts the error for a file that the user named to a `StatusError` whose code says what is wrong with the argument.
    ///
    /// - Parameter failure: The operation that failed, as in `Cannot open x`. The system's description of the error is appended.
    package func status(_ failure: String) -> StatusError {
        let status: StatusCode =
            switch code {
            case ENOENT, ENOTDIR: .notFound
            case EACCES, EPERM, EROFS: .permissionDenied
            case EISDIR, ELOOP, ENAMETOOLONG, EINVAL: .invalidArgument
            case EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT, EFBIG: .resourceExhausted
            default: .unavailable
            }
        return StatusError(status, "\(failure): \(reason).")
    }
}

extension StatusError {
    /// True if the error is limited to a single file or folder, so that others may be readable.
    package var affectsSingleFile: Bool {
        code == .dataLoss || (cause as? FileSystemError)?.affectsSingleFile == true
    }

    /// True if a single file or folder cannot be accessed or modified, while others can.
    package var preventsSingleFileAccess: Bool {
        (cause as? FileSystemError)?.preventsSingleFileAccess == true
    }
}

/// Calls `body`, and converts its file system errors to `StatusError`.
///
/// - Parameters:
///   - action: The verb of the action, such as "write".
///   - filePath: The path of the file, relative to the folder.
///   - folder: The folder, in words.
@inlinable
package func reporting<Result: ~Copyable>(
    _ action: String,
    _ filePath: @autoclosure () -> String,
    in folder: @autoclosure () -> String = "the data folder",
    _ body: () throws(FileSystemError) -> Result
) throws(StatusError) -> Result {
    do throws(FileSystemError) {
        return try body()
    } catch {
        throw error.status(action, filePath(), in: folder())
    }
}
