internal import Glibc

/// The access that the group of this process has to the files and folders that it creates in a data folder. Others have none.
package enum GroupAccess: String, CaseIterable, Sendable {
    case none
    case read
    case edit

    /// The mode that this process gives files for its user, such as exports: that of the mask with which it was started.
    package static let userFileMode: UInt32 = 0o666 & ~umask(0o077)

    /// Applies it to what the process creates from now on.
    package func apply() {
        // The mask is asked for by replacing it.
        _ = Self.userFileMode
        umask(mask)
    }

    private var mask: mode_t {
        switch self {
        case .none: 0o077
        case .read: 0o027
        case .edit: 0o007
        }
    }
}
