package import DocumentModel

/// A reader of documents as of a read time, for one query on one thread.
///
/// A store implements it. The index may contain later commits: in its scans, a query skips the documents that these changed, and
/// evaluates them as they were at the read time.
package protocol QueryDocuments: AnyObject {
    /// The read time.
    var time: Timestamp { get }

    /// The number of documents read by ``document(at:)``.
    var readCount: Int { get }

    /// Reads the document at `path`; `nil` if it did not exist at the read time, or cannot be read.
    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument?

    /// Returns the paths of a source's documents that are known to be unreadable, or were recently. The index may have entries of
    /// them from before.
    func unreadablePaths(in source: StructuredQuery.Source) -> [DocumentPath]

    /// Returns the paths of a source's documents that commits after the read time have changed, in the order in which
    /// ``images(ofChanged:)`` reads them fastest.
    ///
    /// - Throws: `.resourceExhausted` when there are too many.
    func changedPaths(in source: StructuredQuery.Source) throws(StatusError) -> [DocumentPath]

    /// Returns the documents at some of the paths that ``changedPaths(in:)`` last returned, as of the read time, without those
    /// that did not exist.
    func images(ofChanged paths: ArraySlice<DocumentPath>) throws(StatusError) -> [EncodedDocument]
}
