package import DocumentModel

/// A lack of space on the disk for backups: the cause of a `StatusError`.
struct BackupSpaceError: Error {
    /// The error of the system; `nil` if space was left, but not for backups.
    let cause: (any Error)?
}

extension StatusError {
    /// True if a backup failed for lack of space on the disk for backups, where fewer of them would help.
    package var isLackOfBackupSpace: Bool { cause is BackupSpaceError }

    /// Returns the error of writing to the disk for backups, marked if that lacks space.
    func ofBackupDisk() -> StatusError {
        guard isLackOfSpace else { return self }
        var error = self
        error.cause = BackupSpaceError(cause: cause)
        return error
    }
}
