/// The members of the result of `server.info` that clients read.
package enum ServerInfoKeys {
    package static let name: WireKey = "name"
    package static let version: WireKey = "version"
    package static let database: WireKey = "database"
    package static let epoch: WireKey = "epoch"
    package static let sequence: WireKey = "sequence"
    package static let oldestSequence: WireKey = "oldestSequence"
    package static let commitTime: WireKey = "commitTime"
    /// The reason why the store rejects writes.
    package static let writeObstacle: WireKey = "writeObstacle"
    package static let uptimeSeconds: WireKey = "uptimeSeconds"
    package static let limits: WireKey = "limits"
}

/// The members of the `limits` of `server.info`.
package enum ServerLimitKeys {
    package static let bodyBytes: WireKey = "bodyBytes"
    package static let batchCount: WireKey = "batchCount"
    package static let pageSize: WireKey = "pageSize"
    package static let documentBytes: WireKey = "documentBytes"
}
