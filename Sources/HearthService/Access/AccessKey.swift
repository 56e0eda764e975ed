package import DocumentModel
import DocumentStore
package import StrictJSON

/// A key that a caller can show, as far as it is kept: everything but its secret.
package struct AccessKey: Sendable {
    /// Names the key in lists, in the log and where it is revoked. It is a part of the key's text.
    package let id: UTF8Key
    /// What the key is for, in the words of who made it.
    package let label: String
    package let role: Role
    /// The collections that the key is for, with all that is below them; nil for the whole database.
    package let collections: [CollectionPath]?
    package let createTime: Timestamp
    /// From when on the key is refused; nil when it does not expire.
    package let expireTime: Timestamp?
    /// When it was shown last; nil when it was not since it was made.
    package var lastUseTime: Timestamp?
    /// The hash of the key's text.
    let digest: KeyDigest
}

extension AccessKey {
    /// What a key is to be.
    package struct Description: Sendable {
        package var role: Role
        package var label: String
        package var collections: [CollectionPath]?
        package var expireTime: Timestamp?

        /// Checks the description of a new key.
        ///
        /// - Throws: ``StatusCode/invalidArgument`` for a label that is too long, no or too many collections, an admin's that is
        ///   for some collections only, and a time that has passed.
        package init(
            role: Role,
            label: String = "",
            collections: [CollectionPath]? = nil,
            expireTime: Timestamp? = nil,
            now: Timestamp = .current()
        ) throws(StatusError) {
            self.role = role
            self.label = label
            self.collections = collections
            self.expireTime = expireTime
            try check(now: now)
        }

        private static let maximumLabelBytes = 200
        private static let maximumCollections = 100

        private func check(now: Timestamp) throws(StatusError) {
            guard label.utf8.count <= Self.maximumLabelBytes, !KeySecret.isSimilar(to: label) else {
                throw StatusError(
                    .invalidArgument,
                    "Expected a label of at most \(Self.maximumLabelBytes) bytes that says what the key is for."
                )
            }
            if let collections {
                guard role != .admin else {
                    throw StatusError(
                        .invalidArgument,
                        "An admin's key can't be for some collections only, since who has it can make keys for all others."
                    )
                }
                guard (1...Self.maximumCollections).contains(collections.count) else {
                    throw StatusError(
                        .invalidArgument,
                        "Expected 1 to \(Self.maximumCollections) collections, found \(collections.count). "
                            + "Leave them out for a key to the whole database."
                    )
                }
            }
            if let expireTime, expireTime <= now {
                throw StatusError(.invalidArgument, "Expected a time to come for the key to expire, found \(expireTime).")
            }
        }
    }

    /// Makes a key and its secret.
    init(_ description: Description, secret: KeySecret, at now: Timestamp) {
        id = secret.id
        label = description.label
        role = description.role
        collections = description.collections
        createTime = now
        expireTime = description.expireTime
        digest = secret.digest
    }

    func isExpired(at now: Timestamp) -> Bool {
        expireTime.map { $0 <= now } ?? false
    }
}
