package import UTF8Text

/// The members of the size of a collection or a database, and of a quota.
package enum SizeKeys {
    /// The number of documents.
    package static let documentCount: UTF8Key = "documentCount"
    /// The total size of the documents, by Firestore's storage size formula.
    package static let bytes: UTF8Key = "bytes"
}
