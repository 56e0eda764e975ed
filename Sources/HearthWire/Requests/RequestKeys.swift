package import UTF8Text

/// The parameters that choose the point in time or the transaction of a read.
package enum ReadConsistencyKeys {
    package static let readTime: UTF8Key = "readTime"
    package static let transaction: UTF8Key = "transaction"
}

/// The parameters of `documents.get` and `documents.batchGet`.
package enum GetParameterKeys {
    package static let path: UTF8Key = "path"
    package static let paths: UTF8Key = "paths"
    package static let mask: UTF8Key = "mask"
}

/// The parameters of `documents.list` and `collections.list`.
package enum ListParameterKeys {
    package static let collection: UTF8Key = "collection"
    package static let parent: UTF8Key = "parent"
    package static let pageSize: UTF8Key = "pageSize"
    package static let pageToken: UTF8Key = "pageToken"
    package static let mask: UTF8Key = "mask"
    package static let showMissing: UTF8Key = "showMissing"
}

/// The parameters of `documents.create`.
package enum CreateParameterKeys {
    package static let collection: UTF8Key = "collection"
    package static let id: UTF8Key = "id"
    package static let fields: UTF8Key = "fields"
}

/// The members of the parameters and results of `transactions.begin` and `transactions.rollback`.
package enum TransactionKeys {
    package static let readWrite: UTF8Key = "readWrite"
    package static let readOnly: UTF8Key = "readOnly"
    package static let readTime: UTF8Key = "readTime"
    package static let transaction: UTF8Key = "transaction"
}
