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
        let count = listing.limit + 1
        var ids: [DocumentID] = []
        let start = listing.after.map { NameKey($0).bytes + [0] } ?? []
        let cursor = try snapshot.cursor(
            IndexScan(
                target: .collection(listing.collection),
                subject: .documents,
                names: Range(from: start, to: Range.allNames.upperBound.bytes)
            )
        )
        while ids.count < count, try cursor.next() {
            rows += 1
            if let id = cursor.withName({ DocumentID(nameKey: $0) }) { ids.append(id) }
        }
        guard listing.includingMissing else { return ids }
        for group in try snapshot.nestedGroups() {
            rows += 1
            ids = try merged(ids, with: group, count)
        }
        return ids
    }

    /// The first of the IDs and of those that have documents below them in a collection with an ID.
    private mutating func merged(_ ids: [DocumentID], with group: CollectionID, _ count: Int) throws(StatusError) -> [DocumentID]
    {
        var all = Set(ids)
        var last = ids.count < count ? nil : ids.last
        var start = listing.after.map { NameKey(listing.collection.document($0)).firstBehindAll }
        let below = NameKey(listing.collection)
        var found = 0
        while found < count, let path = try first(in: group, from: start ?? below.bytes, to: below.bytes + [0xff]) {
            found += 1
            guard let id = try? DocumentID(path.segments[listing.collection.segments.count].string) else { break }
            if let last, last < id { break }
            all.insert(id)
            if all.count == count { last = all.max() }
            start = NameKey(listing.collection.document(id)).firstBehindAll
        }
        return Array(all.sorted().prefix(count))
    }

    private mutating func first(
        in group: CollectionID,
        from lower: [UInt8],
        to upper: [UInt8]
    ) throws(StatusError) -> DocumentPath? {
        rows += 1
        let cursor = try snapshot.cursor(
            IndexScan(target: .group(group, below: nil), subject: .documents, names: Range(from: lower, to: upper))
        )
        guard try cursor.next() else { return nil }
        return cursor.withName { DocumentPath(nameKey: $0) }
    }
}
