internal import DocumentModel

/// The documents that are read together with one that a query needs, since it is likely to need them next.
///
/// Their number grows while the query uses them.
struct DocumentPrefetch {
    private var documents: [[UInt8]: EncodedDocument?] = [:]
    private var usedCount = 0
    private var fetchedCount = 0
    private var size = 16

    /// The maximum number of documents that are read together.
    private static let maximumSize = 256

    /// Returns a document; `nil` if there is none.
    ///
    /// - Parameter lookahead: The rows that the query reads.
    mutating func document(
        at path: DocumentPath,
        in snapshot: EngineSnapshot,
        _ lookahead: (any NameLookahead)?
    ) throws(StatusError) -> EncodedDocument? {
        let key = NameKey(path).bytes
        if let known = documents.removeValue(forKey: key) {
            usedCount += 1
            return known
        }
        // A join skips some of the rows.
        size = 2 * usedCount >= fetchedCount ? min(2 * size, Self.maximumSize) : max(1, size / 2)
        var keys = [key]
        for next in lookahead?.nextKeys(size) ?? [] where next != key { keys.append(next) }
        documents = [:]
        var found: EncodedDocument?
        let fetched = try snapshot.documents(named: keys.map { EngineKey.stored($0) })
        for document in fetched {
            if document.path == path { found = document } else { documents[NameKey(document.path).bytes] = document }
        }
        (usedCount, fetchedCount) = (0, documents.count)
        return found
    }
}
