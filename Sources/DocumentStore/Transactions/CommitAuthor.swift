package import DocumentModel
package import UTF8Text

/// The author of a commit, and what permits it.
package struct CommitAuthor: Sendable {
    /// The ID of the API key used for the commit, which the history shows; `nil` for an author without a key.
    package var keyID: UTF8Key?
    /// The decision whether the commit is permitted; `nil` if it has been made.
    package var authorization: (any CommitAuthorization)?

    /// Creates an author.
    package init(keyID: UTF8Key? = nil, authorization: (any CommitAuthorization)? = nil) {
        self.keyID = keyID
        self.authorization = authorization
    }
}

/// The decision whether a commit is permitted, made on exactly the state that the commit changes.
///
/// The store makes it where it evaluates the commit, before preconditions are checked, so that the error of a forbidden write does
/// not depend on the document. Whatever the decision reads is what held at the commit.
package protocol CommitAuthorization: Sendable {
    /// Decides a commit. Other commits wait meanwhile, so the time that this takes is bounded.
    ///
    /// - Parameters:
    ///   - writes: The writes in order.
    ///   - time: The commit time.
    ///   - read: Returns a document as it is before the commit.
    /// - Throws: The error of the commit if it is not permitted.
    func authorize(
        _ writes: [ProposedWrite],
        at time: Timestamp,
        reading read: (DocumentPath) throws(StatusError) -> Document?
    ) throws(StatusError)
}

/// A write of a commit that is to be authorized, and its effect if nothing but its authorization could keep it from being applied.
package struct ProposedWrite: Sendable {
    /// The write.
    package let write: Write
    /// The document before the write, with the effects of the writes before it; `nil` if it does not exist.
    package let before: Document?
    /// The document after the write; `nil` if it does not exist. Preconditions and the limits of documents are disregarded.
    package let after: Document?

    /// Creates a proposed write.
    package init(_ write: Write, before: Document?, after: Document?) {
        self.write = write
        self.before = before
        self.after = after
    }
}

extension [Write] {
    /// Returns the writes with their effects, for a ``CommitAuthorization``.
    ///
    /// - Parameters:
    ///   - time: The commit time.
    ///   - read: Returns a document as it is before the commit.
    /// - Throws: ``StatusCode/invalidArgument`` for a transform that is invalid for every document; the errors of `read`.
    package func proposed(
        at time: Timestamp,
        reading read: (DocumentPath) throws(StatusError) -> Document?
    ) throws(StatusError) -> [ProposedWrite] {
        var current: [DocumentPath: Document?] = [:]
        var proposed: [ProposedWrite] = []
        proposed.reserveCapacity(count)
        for (index, write) in enumerated() {
            do throws(StatusError) {
                let before = if let known = current[write.path] { known } else { try read(write.path) }
                let after = try write.effect(on: before, at: time)
                current.updateValue(after, forKey: write.path)
                proposed.append(ProposedWrite(write, before: before, after: after))
            } catch {
                throw error.withWriteIndex(index)
            }
        }
        return proposed
    }
}
