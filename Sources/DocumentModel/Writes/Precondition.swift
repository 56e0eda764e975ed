/// What must be so for a write to happen.
public enum Precondition: Sendable, Hashable {
    /// Nothing.
    case none
    /// The document exists, or doesn't.
    case exists(Bool)
    /// The document exists and was last changed at this time.
    case updateTime(Timestamp)
}

extension Precondition {
    /// Checks the document as it is now.
    ///
    /// - Throws: ``StatusCode/notFound``, ``StatusCode/alreadyExists`` or ``StatusCode/failedPrecondition`` when the
    ///   document is not as required, ``StatusCode/invalidArgument`` for a time that no document can have yet.
    func check(_ current: Document?, at path: DocumentPath, commitTime: Timestamp) throws(StatusError) {
        switch (self, current) {
        case (.none, _), (.exists(true), _?), (.exists(false), nil):
            break
        case (.exists(true), nil):
            throw StatusError(.notFound, "No document to update: \(path.shown)", path: path.string)
        case (.exists(false), _?):
            throw StatusError(.alreadyExists, "Document already exists: \(path.shown)", path: path.string)
        case (.updateTime(let required), _) where required > commitTime:
            throw StatusError(
                .invalidArgument,
                "Expected an update time of the past as precondition, found \(required), while it is \(commitTime). "
                    + "Give the updateTime with which the document was read.",
                path: path.string
            )
        case (.updateTime(let required), let current?):
            guard current.updateTime == required else {
                throw StatusError(
                    .failedPrecondition,
                    "The document was last changed at \(current.updateTime), not at \(required) as required. "
                        + "Read it again and decide anew.",
                    path: path.string
                )
            }
        case (.updateTime(let required), nil):
            throw StatusError(
                .failedPrecondition,
                "There is no document, although it was required to be last changed at \(required). Read it again and decide anew.",
                path: path.string
            )
        }
    }
}
