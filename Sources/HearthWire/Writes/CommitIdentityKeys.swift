package import UTF8Text

/// The members of the identity of a commit: `{"client", "number", "after"?}`.
package enum CommitIdentityKeys {
    /// The ID of the client: 22 characters of base64url.
    package static let client: UTF8Key = "client"
    /// The number of the commit among those of the client, from 1.
    package static let number: UTF8Key = "number"
    /// The highest number up to which the client has all answers.
    package static let after: UTF8Key = "after"
}

/// The members of the `data` of the error of a commit with an identity.
package enum CommitIdentityErrorKeys {
    /// Either ``gap``, ``forgotten`` or ``reused``.
    package static let reason: UTF8Key = "reason"
    /// True if the commit was not made, neither by this call nor by an earlier one.
    package static let decided: UTF8Key = "decided"
    /// The number of the commit that is expected: for ``gap``, and for ``forgotten`` if the client is known.
    package static let expected: UTF8Key = "expected"
    /// The reason of a commit before which another one is missing.
    package static let gap = "identityGap"
    /// The reason of a commit whose client, or whose answer, is not known any more.
    package static let forgotten = "identityForgotten"
    /// The reason of a commit whose number had other writes.
    package static let reused = "identityReused"
}
