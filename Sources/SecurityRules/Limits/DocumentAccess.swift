package import DocumentModel

/// A document that rules read by `get`, `exists`, `getAfter` or `existsAfter`.
package struct DocumentAccess: Hashable, Sendable {
    /// The path of the document.
    package let path: DocumentPath
    /// False for the state before the request, true for the state as it would be after the whole commit. In reads the two are
    /// the same.
    package let isAfterCommit: Bool

    /// Creates an access.
    package init(_ path: DocumentPath, isAfterCommit: Bool = false) {
        self.path = path
        self.isAfterCommit = isAfterCommit
    }
}
