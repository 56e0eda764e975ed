package import UTF8Text

/// The members of an API key in `keys.create`, `keys.list` and `keys.json`.
package enum APIKeyMembers {
    package static let id: UTF8Key = "id"
    package static let label: UTF8Key = "label"
    package static let role: UTF8Key = "role"
    package static let collections: UTF8Key = "collections"
    package static let createTime: UTF8Key = "createTime"
    package static let expireTime: UTF8Key = "expireTime"
    package static let lastUseTime: UTF8Key = "lastUseTime"
    /// The text of a key, in the result of `keys.create` only.
    package static let key: UTF8Key = "key"
    /// The list of keys, in the result of `keys.list` and in the file.
    package static let keys: UTF8Key = "keys"
}
