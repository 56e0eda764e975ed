/// The parameters that choose the point in time or the transaction of a read.
package enum ReadConsistencyKeys {
    package static let readTime: WireKey = "readTime"
    package static let transaction: WireKey = "transaction"
}

/// The parameters of `documents.get` and `documents.batchGet`.
package enum GetParameterKeys {
    package static let path: WireKey = "path"
    package static let paths: WireKey = "paths"
    package static let mask: WireKey = "mask"
}

/// The parameters of `documents.list` and `collections.list`.
package enum ListParameterKeys {
    package static let collection: WireKey = "collection"
    package static let parent: WireKey = "parent"
    package static let pageSize: WireKey = "pageSize"
    package static let pageToken: WireKey = "pageToken"
    package static let mask: WireKey = "mask"
    package static let showMissing: WireKey = "showMissing"
}

/// The parameters of `documents.create`.
package enum CreateParameterKeys {
    package static let collection: WireKey = "collection"
    package static let id: WireKey = "id"
    package static let fields: WireKey = "fields"
}

/// The parameters and the result of `transactions.begin` and `transactions.rollback`.
package enum TransactionKeys {
    package static let readWrite: WireKey = "readWrite"
    package static let readOnly: WireKey = "readOnly"
    package static let readTime: WireKey = "readTime"
    package static let transaction: WireKey = "transaction"
}
