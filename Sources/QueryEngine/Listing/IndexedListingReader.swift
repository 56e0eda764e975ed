package import DocumentModel
internal import StrictJSON
internal import UTF8Text

/// A reader of the document IDs of one page of a collection from an index.
package struct IndexedListingReader {
    private let collection: CollectionPath
    private let after: DocumentPath.ID?
    private let limit: Int
    private let includingMissing: Bool
    private let snapshot: any QueryIndex
    /// The number of index rows read.
    package private(set) var rowCount = 0

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - after: The ID after which the page starts; `nil` for the first page.
    ///   - limit: The maximum number of entries of the page.
    ///   - includingMissing: Whether the page includes missing documents that have descendants.
    package init(
        of collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        _ snapshot: any QueryIndex
    ) {
        self.collection = collection
        self.after = after
        self.limit = limit
        self.includingMissing = includingMissing
        self.snapshot = snapshot
    }

    /// Returns the IDs of the page and the one after it, in order: those of documents and, if the page includes them, those of
    /// missing documents that have descendants.
    package mutating func ids() throws(StatusError) -> [DocumentPath.ID] {
        includingMissing ? try idsIncludingMissing() : try documentIDs()
    }

    private mutating func documentIDs() throws(StatusError) -> [DocumentPath.ID] {
        let start = after.map { NameKey($0).bytes + [0] } ?? []
        let cursor = try snapshot.cursor(
            IndexScan(
                target: .collection(collection),
                index: .documents,
                names: Range(from: start, to: Range.allNames.upperBound.bytes)
            ),
            probing: []
        )
        var ids: [DocumentPath.ID] = []
        while ids.count <= limit, try cursor.next() {
            rowCount += 1
            if let id = DocumentPath.ID(nameKey: cursor.name) { ids.append(id) }
        }
        return ids
    }

    /// Scans the names of all documents, where the descendants of a document follow it, and skips over them.
    private mutating func idsIncludingMissing() throws(StatusError) -> [DocumentPath.ID] {
        let reader = MeteredIndexReader(snapshot, NameKeyMapping(.descendants(of: nil)))
        defer { rowCount += reader.entriesScanned }
        let all = NameKey(collection)
        let start = after.map { NameKey(collection.document($0)).prefixUpperBound }
        let names = try CursorNameIterator(reader.scan(Range(from: start ?? all.bytes, to: all.prefixUpperBound)), reader)
        var ids: [DocumentPath.ID] = []
        while ids.count <= limit, let path = names.current.flatMap({ DocumentPath(nameKey: $0) }),
            let id = try? DocumentPath.ID(path.segments[collection.segments.count].string)
        {
            ids.append(id)
            try names.seek(NameKey(collection.document(id)).prefixUpperBound)
        }
        return ids
    }
}
