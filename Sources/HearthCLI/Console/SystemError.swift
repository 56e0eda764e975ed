import DocumentModel
import Foundation

/// What the system says of a failed call.
enum SystemError {
    /// The words for an `errno`.
    static func text(_ number: Int32) -> String {
        String(cString: strerror(number))
    }

    /// The error of a call that failed with an `errno`; `what` says what could not be done, as in `Can't open x`.
    static func status(_ number: Int32, _ what: String) -> StatusError {
        StatusError(code(number), "\(what): \(text(number)).")
    }

    private static func code(_ number: Int32) -> StatusCode {
        switch number {
        case ENOENT, ENOTDIR: .notFound
        case EACCES, EPERM, EROFS: .permissionDenied
        case EISDIR, ELOOP, ENAMETOOLONG, EINVAL: .invalidArgument
        case EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT, EFBIG: .resourceExhausted
        default: .unavailable
        }
    }
}
