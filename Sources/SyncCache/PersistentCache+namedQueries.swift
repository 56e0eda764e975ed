package import DocumentModel
internal import GRDB
package import SyncEngine
package import UTF8Text

extension PersistentCache {
    /// Returns a named query; `nil` if there is none with the name.
    package func namedQuery(_ name: UTF8Key) throws(StatusError) -> NamedQuery? {
        try cache.read { database in
            let lookup = try CacheStatement("SELECT readTime, query FROM named_query WHERE name = ?", database)
            lookup.bind(name.string, at: 1)
            return try lookup.firstRow { row in
                NamedQuery(name: name, readTime: try row.time(0), definition: row.bytes(1))
            }
        }
    }

    /// Saves a named query in place of another one with its name.
    package mutating func save(_ query: NamedQuery) throws(StatusError) {
        try write(to: cache) { database in
            let insertion = try CacheStatement("INSERT OR REPLACE INTO named_query VALUES (?, ?, ?)", database)
            insertion.bind(query.name.string, at: 1)
            insertion.bind(query.readTime, at: 2)
            insertion.bind(text: query.definition, at: 3)
            try insertion.run()
        }
    }
}
