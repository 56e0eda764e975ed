/// The reason why a commit with an identity is refused without regard to its writes.
package enum CommitIdentityMismatch: Hashable, Sendable {
    /// A commit of the client before this one has not arrived; the next one has the number `expected`.
    case gap(expected: UInt64)
    /// Nothing is known of the client or, if the number is given that its next commit has, of this commit any more: it may have been applied.
    case forgotten(expected: UInt64?)
    /// The commit of this number had other writes. This one was not applied under it.
    case reused
}
