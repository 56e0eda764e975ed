package import UTF8Text

/// The members of the result of `server.info` that clients read.
package enum ServerInfoKeys {
    package static let name: UTF8Key = "name"
    package static let version: UTF8Key = "version"
    package static let database: UTF8Key = "database"
    package static let epoch: UTF8Key = "epoch"
    package static let sequence: UTF8Key = "sequence"
    package static let oldestSequence: UTF8Key = "oldestSequence"
    package static let commitTime: UTF8Key = "commitTime"
    /// The reason why the store rejects writes.
    package static let writeObstacle: UTF8Key = "writeObstacle"
    /// The primary that a standby follows.
    package static let primary: UTF8Key = "primary"
    /// The time for which a standby may lack commits, in seconds.
    package static let ageSeconds: UTF8Key = "ageSeconds"
    package static let uptimeSeconds: UTF8Key = "uptimeSeconds"
    /// The security rules of the database.
    package static let rules: UTF8Key = "rules"
    package static let emulator: UTF8Key = "emulator"
    package static let limits: UTF8Key = "limits"
}

/// The members of the `limits` of `server.info`.
package enum ServerLimitKeys {
    package static let bodyBytes: UTF8Key = "bodyBytes"
    package static let batchCount: UTF8Key = "batchCount"
    package static let pageSize: UTF8Key = "pageSize"
    package static let documentBytes: UTF8Key = "documentBytes"
}
