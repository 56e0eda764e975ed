internal import DocumentModel

extension StatusError {
    /// Returns the error of a commit that finds an edit of a document's file which has not become a commit yet.
    ///
    /// - Parameter committed: The last committed version.
    static func uncommittedEdit(of committed: EncodedDocument) -> StatusError {
        StatusError(
            // Not a final refusal of a commit with an identity.
            .unavailable,
            "The file of the document has just been edited. Try again.",
            path: committed.path.string,
            cause: UncommittedEdit(committed: committed)
        )
    }

    /// The last committed version, if the edit of a file has to become a commit first; `nil` for other errors.
    var versionBeforeEdit: EncodedDocument? { (cause as? UncommittedEdit)?.committed }
}

/// The cause of an error that is resolved by a commit of an edit.
private struct UncommittedEdit: Error {
    let committed: EncodedDocument
}
