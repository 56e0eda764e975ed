internal import DocumentModel
internal import UTF8Text

/// Reads the document IDs of one page of a collection from the index.
struct IndexedListingReader {
    private let listing: DocumentPageRequest
    private let snapshot: IndexSnapshot
    /// The number of index rows read.
    private(set) var rowCount = 0

    init(_ listing: DocumentPageRequest, _ snapshot: IndexSnapshot) {
        self.listing = listing
        self.snapshot = snapshot
    }

    /// Returns the IDs of the page and the one after it, in order: of documents and, if the page includes them, of missing documents
    /// that have descendants.
    mutating func ids() throws(StatusError) -> [DocumentPath.ID] {
        listing.includingMissing ? try idsIncludingMissing() : try documentIDs()
    }

    private mutating func documentIDs() throws(StatusError) -> [DocumentPath.ID] {
        let start = listing.after.map { NameKey($0).bytes + [0] } ?? []
        let cursor = try snapshot.cursor(
            IndexScan(
                target: .collection(listing.collection),
                index: .documents,
                names: Range(from: start, to: Range.allNames.upperBound.bytes)
            )
        )
        var ids: [DocumentPath.ID] = []
        while ids.count <= listing.limit, try cursor.next() {
            rowCount += 1
            if let id = cursor.withName({ DocumentPath.ID(nameKey: $0) }) { ids.append(id) }
        }
        return ids
    }

    /// Scans the names of all documents, where the descendants of a document follow it, and skips over them.
    private mutating func idsIncludingMissing() throws(StatusError) -> [DocumentPath.ID] {
        let reader = MeteredIndexReader(snapshot, NameKeyMapping(.descendants(of: nil)))
        defer { rowCount += reader.entriesScanned }
        let all = NameKey(listing.collection)
        let start = listing.after.map { NameKey(listing.collection.document($0)).prefixUpperBound }
        let names = try CursorNameIterator(reader.scan(Range(from: start ?? all.bytes, to: all.prefixUpperBound)), reader)
        var ids: [DocumentPath.ID] = []
        while ids.count <= listing.limit, let path = names.current.flatMap({ DocumentPath(nameKey: $0) }),
            let id = try? DocumentPath.ID(path.segments[listing.collection.segments.count].string)
        {
            ids.append(id)
            try names.seek(NameKey(listing.collection.document(id)).prefixUpperBound)
        }
        return ids
    }
}
