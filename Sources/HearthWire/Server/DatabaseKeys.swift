package import UTF8Text

/// The members of a database in the result of `databases.list`.
package enum DatabaseKeys {
    package static let name: UTF8Key = "name"
    package static let project: UTF8Key = "project"
    package static let database: UTF8Key = "database"
    package static let isDefault: UTF8Key = "isDefault"
    /// The list of databases.
    package static let databases: UTF8Key = "databases"
}
