import DocumentModel
import Foundation

extension StatusError {
    /// Creates the error of a failed system call.
    ///
    /// - Parameters:
    ///   - errno: The error number.
    ///   - message: The operation that failed, as in `Can't open x`. The system's description of the error is appended.
    init(errno: Int32, _ message: String) {
        self.init(Self.code(errno), "\(message): \(String(cString: strerror(errno))).")
    }

    private static func code(_ errno: Int32) -> StatusCode {
        switch errno {
        case ENOENT, ENOTDIR: .notFound
        case EACCES, EPERM, EROFS: .permissionDenied
        case EISDIR, ELOOP, ENAMETOOLONG, EINVAL: .invalidArgument
        case EMFILE, ENFILE, ENOMEM, ENOSPC, EDQUOT, EFBIG: .resourceExhausted
        default: .unavailable
        }
    }
}
