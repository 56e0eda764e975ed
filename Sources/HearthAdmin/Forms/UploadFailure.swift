import DocumentModel

/// The reason why a multipart form is rejected.
enum UploadFailure: Error {
    case fileTooLarge
    case malformedForm
    /// The quota for uploaded files is exceeded.
    case quotaExceeded
    /// The file cannot be created or written.
    case storageFailed(StatusError)
}
