package import DocumentModel

/// The identity that a client gives a commit, by which a store applies the commit once, however often it is sent.
///
/// A client numbers its commits from 1. It may send a few without waiting for the answers to those before, and sends a commit without an
/// answer again under the same number.
package struct CommitIdentity: Hashable, Sendable {
    /// The client.
    package let client: CommitClientID
    /// The number of the commit among those of the client, from 1.
    package let number: UInt64
    /// The highest number up to which the client has all answers; less than ``number``. 0 if it has none.
    package let after: UInt64
    /// A digest of the writes, which tells another commit of the same number from the same one.
    package let fingerprint: UInt64

    /// Creates an identity.
    package init(client: CommitClientID, number: UInt64, after: UInt64, fingerprint: UInt64) {
        self.client = client
        self.number = number
        self.after = after
        self.fingerprint = fingerprint
    }
}
