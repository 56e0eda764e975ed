package import DocumentModel
internal import GRDB
package import SyncEngine

extension PersistentCache {
    /// The knowledge of the server's clock that was saved last.
    package var serverClock: ServerClock {
        get throws(StatusError) {
            try cache.read { database in
                let clock = try CacheStatement("SELECT clockOffset, serverTime FROM state", database).firstRow { row in
                    ServerClock(offset: try row.integer(0), latest: try row.optionalTime(1) ?? .minimum)
                }
                return clock ?? ServerClock()
            }
        }
    }

    /// Saves the knowledge of the server's clock.
    package mutating func save(_ clock: ServerClock) throws(StatusError) {
        try write(to: cache) { database in
            let update = try CacheStatement("UPDATE state SET clockOffset = ?, serverTime = ?", database)
            update.bind(clock.offset, at: 1)
            update.bind(clock.latest, at: 2)
            try update.run()
        }
    }
}
