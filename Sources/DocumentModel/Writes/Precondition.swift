/// A condition on the current document that a write requires.
public enum Precondition: Sendable, Hashable {
    /// No condition.
    case none
    /// The document exists (`true`) or doesn't exist (`false`).
    case exists(Bool)
    /// The document exists and has this update time.
    case updateTime(Timestamp)
}

extension Precondition {
    /// Checks the precondition against the current document.
    ///
    /// - Throws: ``StatusCode/notFound``, ``StatusCode/alreadyExists`` or ``StatusCode/failedPrecondition`` if the
    ///   condition doesn't hold, ``StatusCode/invalidArgument`` for an update time in the future.
    func check(_ current: Document?, at path: DocumentPath, commitTime: Timestamp) throws(StatusError) {
        switch (self, current) {
        case (.none, _), (.exists(true), _?), (.exists(false), nil):
            break
        case (.exists(true), nil):
            throw StatusError(.notFound, "No document to update: \(path.escapedString)", path: path.string)
        case (.exists(false), _?):
            throw StatusError(.alreadyExists, "Document already exists: \(path.escapedString)", path: path.string)
        case (.updateTime(let required), _) where required > commitTime:
            throw StatusError(
                .invalidArgument,
                "The update time \(required) in the precondition is in the future; the current time is \(commitTime). "
                    + "Use the updateTime that was returned with the document.",
                path: path.string
            )
        case (.updateTime(let required), let current?):
            guard current.updateTime == required else {
                throw StatusError(
                    .failedPrecondition,
                    "The document's update time is \(current.updateTime), but the precondition requires \(required). "
                        + "Read the document again and retry.",
                    path: path.string
                )
            }
        case (.updateTime(let required), nil):
            throw StatusError(
                .failedPrecondition,
                "The document doesn't exist, but the precondition requires the update time \(required). Read it again and retry.",
                path: path.string
            )
        }
    }
}
