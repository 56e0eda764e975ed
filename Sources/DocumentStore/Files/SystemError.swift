internal import DocumentModel
internal import Glibc
internal import StrictJSON

/// A system call that failed.
struct SystemError: Error, Hashable {
    /// What was called.
    let call: String
    /// Its `errno`.
    let code: Int32

    init(_ call: StaticString, code: Int32 = errno) {
        self.call = call.description
        self.code = code
    }

    /// Whether the name does not exist.
    var isNotFound: Bool { code == ENOENT }

    /// Whether the name is taken.
    var isTaken: Bool { code == EEXIST }

    /// Whether a folder can't be removed because there is something in it.
    var isNotEmpty: Bool { code == ENOTEMPTY || code == EEXIST }

    /// Whether the file system can't hold such a name.
    var isInvalidName: Bool { code == EILSEQ || code == EINVAL }

    /// Whether the file or folder itself is the cause, and not the process or the disk as a whole.
    var concernsOneFile: Bool { code == EACCES || code == EPERM || code == EIO || isNotFolder }

    /// Whether this file or folder may not be entered or changed, and others may.
    var forbidsOneFile: Bool { code == EACCES || code == EPERM || isNotFolder || code == EISDIR }

    /// Whether the file is marked as one that is never to change, whoever asks.
    var isUnchangeable: Bool { code == EPERM }

    /// Whether there is no room: the disk is full or a quota is used up.
    var isNoSpace: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether a part of the path is not a folder that may be entered: a file, or a symbolic link, which is never followed.
    var isNotFolder: Bool { code == ENOTDIR || code == ELOOP }
}

extension SystemError: CustomStringConvertible {
    var description: String { "\(call): \(String(cString: strerror(code)))" }
}

extension SystemError {
    /// This failure as the store's callers see it.
    ///
    /// - Parameters:
    ///   - action: What was being done: "write".
    ///   - place: The file concerned, relative to the data folder.
    func status(_ action: String, _ place: String) -> StatusError {
        let what = "Could not \(action) \(place) in the data folder"
        return switch code {
        case ENOSPC:
            StatusError(
                .resourceExhausted,
                "\(what): no space left on the disk. Free some space, or move the data folder to a larger disk.",
                cause: self
            )
        case EDQUOT:
            StatusError(
                .resourceExhausted,
                "\(what): no space left in the disk quota. Free some space, or have the quota raised.",
                cause: self
            )
        case EMFILE, ENFILE:
            StatusError(.unavailable, "\(what): too many files are open. Raise the limit on open files (ulimit -n).", cause: self)
        case EPERM:
            StatusError(
                .unavailable,
                "\(what): the system does not permit it. It may be marked as unchangeable, which lsattr shows and chattr -ia takes "
                    + "away, or belong to another user.",
                cause: self
            )
        case EACCES:
            StatusError(
                .unavailable,
                "\(what): permission denied. The data folder and all that is in it must belong to the user that runs Hearth.",
                cause: self
            )
        case EROFS:
            StatusError(.unavailable, "\(what): the file system is read-only. Mount it writable.", cause: self)
        case EIO:
            StatusError(
                .unavailable,
                "\(what): input/output error. The disk may be failing: look at the system log.",
                cause: self
            )
        case ELOOP:
            StatusError(
                .failedPrecondition,
                "\(what): it is a symbolic link, and Hearth follows none. Put the file or folder itself there.",
                cause: self
            )
        case ENOTDIR:
            StatusError(
                .failedPrecondition,
                "\(what): a file or symbolic link stands where a folder is needed. Move it away.",
                cause: self
            )
        case EISDIR, ENOTEMPTY, EEXIST:
            StatusError(.failedPrecondition, "\(what): something else stands in its place. Move it away.", cause: self)
        default:
            StatusError(.unavailable, "\(what): \(String(cString: strerror(code))).", cause: self)
        }
    }
}

extension StatusError {
    /// Whether it is the fault of one file or folder, so that the others may be readable.
    var concernsOneFile: Bool {
        code == .dataLoss || (cause as? SystemError)?.concernsOneFile == true
    }

    /// Whether one file or folder may not be entered or changed, and others may.
    var forbidsOneFile: Bool {
        (cause as? SystemError)?.forbidsOneFile == true
    }

    /// The same error with the file or folder concerned, and the document or collection, where it doesn't name them.
    func concerning(_ place: String, path: String?) -> StatusError {
        var error = self
        error.file = file ?? FileLocation(path: place)
        error.path = self.path ?? path
        return error
    }
}

extension [StatusError] {
    /// Puts them in the order of the files concerned, so that a list of them is the same each time.
    mutating func sortByFile() {
        sort { UTF8Key($0.file?.path ?? "") < UTF8Key($1.file?.path ?? "") }
    }
}

/// Runs `body`, and throws a failure of its system calls as the store's callers see it.
///
/// - Parameters:
///   - action: What is being done: "write".
///   - place: The file concerned, relative to the data folder.
func reporting<Result: ~Copyable>(
    _ action: String,
    _ place: @autoclosure () -> String,
    _ body: () throws(SystemError) -> Result
) throws(StatusError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw error.status(action, place())
    }
}
