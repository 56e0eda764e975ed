package import DocumentModel
import DocumentStore
package import UTF8Text

/// An API key as stored: everything but its secret.
package struct APIKey: Sendable {
    /// The public identifier, used in lists and logs and for revocation; part of the key's text.
    package let id: UTF8Key
    /// A description of the key's purpose.
    package let label: String
    package let role: Role
    /// The collections that the key gives access to, with their subcollections; `nil` for the whole database.
    package let collections: [CollectionPath]?
    package let createTime: Timestamp
    /// The time at which the key expires, or `nil` if it does not expire.
    package let expireTime: Timestamp?
    /// The time of the last authentication with the key, or `nil` if there was none.
    package var lastUseTime: Timestamp?
    /// The hash of the key's text.
    let digest: KeyDigest
}

extension APIKey {
    /// The attributes of a new key.
    package struct Attributes: Sendable {
        package var role: Role
        package var label: String
        package var collections: [CollectionPath]?
        package var expireTime: Timestamp?

        /// Validates the attributes.
        ///
        /// - Throws: ``StatusCode/invalidArgument`` if the label is too long, the list of collections is empty or too long or
        ///   given for an admin's key, or the expiry time has passed.
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
            try validate(now: now)
        }

        private static let maximumLabelBytes = 200
        private static let maximumCollections = 100

        private func validate(now: Timestamp) throws(StatusError) {
            guard label.utf8.count <= Self.maximumLabelBytes, !APIKeyText.hasKeyPrefix(label) else {
                throw StatusError(
                    .invalidArgument,
                    "Expected a label of at most \(Self.maximumLabelBytes) bytes that describes the purpose of the key."
                )
            }
            if let collections {
                guard role != .admin else {
                    throw StatusError(
                        .invalidArgument,
                        "A key with the role admin cannot be restricted to collections: an admin can create keys for all collections."
                    )
                }
                guard (1...Self.maximumCollections).contains(collections.count) else {
                    throw StatusError(
                        .invalidArgument,
                        "Expected 1 to \(Self.maximumCollections) collections, found \(collections.count). "
                            + "Omit them for a key that gives access to the whole database."
                    )
                }
            }
            if let expireTime, expireTime <= now {
                throw StatusError(.invalidArgument, "Expected an expiry time in the future, found \(expireTime).")
            }
        }
    }

    /// Creates a key with a text.
    init(_ attributes: Attributes, text: APIKeyText, at now: Timestamp) {
        id = text.id
        label = attributes.label
        role = attributes.role
        collections = attributes.collections
        createTime = now
        expireTime = attributes.expireTime
        digest = text.digest
    }

    func isExpired(at now: Timestamp) -> Bool {
        expireTime.map { $0 <= now } ?? false
    }
}
