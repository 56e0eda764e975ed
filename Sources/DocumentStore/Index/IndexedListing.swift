internal import DocumentModel
internal import StrictJSON

/// Finds the entries of one page of a collection in a snapshot of the index, and counts the rows.
struct IndexedListing {
    private let listing: DocumentListing
    private let snapshot: IndexSnapshot
    /// How many rows have been looked at.
    private(set) var rows = 0

    init(_ listing: DocumentListing, _ snapshot: IndexSnapshot) {
        self.listing = listing
        self.snapshot = snapshot
    }

    /// The IDs of the page and the one behind it, in order: of documents and, where the page has them, of those that only have
    /// documents below them.
    mutating func ids() throws(StatusError) -> [DocumentID] {
        listing.includingMissing ? try idsOfAll() : try idsOfDocuments()
    }

    private mutating func idsOfDocuments() throws(StatusError) -> [DocumentID] {
        let start = listing.after.map { NameKey($0).bytes + [0] } ?? []
        let cursor = try snapshot.cursor(
            IndexScan(
                target: .collection(listing.collection),
                subject: .documents,
                names: Range(from: start, to: Range.allNames.upperBound.bytes)
            )
        )
        var ids: [DocumentID] = []
        while ids.count <= listing.limit, try cursor.next() {
            rows += 1
            if let id = cursor.withName({ DocumentID(nameKey: $0) }) { ids.append(id) }
        }
        return ids
    }

    /// Among all documents by path those of the collection, and what is below each right behind it.
    private mutating func idsOfAll() throws(StatusError) -> [DocumentID] {
        let scanning = IndexScanning(snapshot, QueryNames(.descendants(of: nil)))
        defer { rows += scanning.rows }
        let all = NameKey(listing.collection)
        let start = listing.after.map { NameKey(listing.collection.document($0)).firstBehindAll }
        let names = try CursorNames(scanning.scan(Range(from: start ?? all.bytes, to: all.firstBehindAll)), scanning)
        var ids: [DocumentID] = []
        while ids.count <= listing.limit, let path = names.current.flatMap({ DocumentPath(nameKey: $0) }),
            let id = try? DocumentID(path.segments[listing.collection.segments.count].string)
        {
            ids.append(id)
            try names.seek(NameKey(listing.collection.document(id)).firstBehindAll)
        }
        return ids
    }
}
