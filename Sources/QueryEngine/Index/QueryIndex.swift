package import DocumentModel

/// A consistent view of an index as of one commit, from which queries take their candidates.
///
/// A store implements it over its index entries. A view, its cursors and its probes are confined to one thread, and all calls throw
/// `.cancelled` after the query was cancelled, and `.unavailable` when the index can't be read. Entries may be a superset of the
/// documents that match, because each candidate is evaluated on its document.
package protocol QueryIndex: AnyObject {
    /// The time of the view's last commit; nil before the first commit.
    var commitTime: Timestamp? { get }

    /// Returns the indexing policy that queries of the collections with a given ID can rely on.
    ///
    /// - Parameter collection: The collection ID; nil for queries of all documents.
    func policy(of collection: CollectionID?) throws(StatusError) -> IndexingPolicy

    /// Opens a cursor.
    ///
    /// - Parameter lookups: Point lookups of each row's document, one after the other until one does not find it; see
    ///   ``IndexCursor/matchedProbeCount``. An index can join them with the scan.
    func cursor(_ scan: IndexScan, probing lookups: [IndexScan.PointLookup]) throws(StatusError) -> any IndexCursor

    /// Prepares a repeated point lookup.
    ///
    /// - Parameter target: The documents to look up.
    func probe(_ lookup: IndexScan.PointLookup, of target: IndexTarget) throws(StatusError) -> any IndexProbe

    /// Returns the number of rows of a scan, counted up to `limit`.
    func count(_ scan: IndexScan, limit: Int?) throws(StatusError) -> Int

    /// Calls `body` once with the name of each document that has a geo point in one of several boxes, in no defined order, until it
    /// returns false. Some points may be outside a box, by at most 1e-7 degrees.
    ///
    /// - Parameter excluded: Boxes whose documents are skipped.
    func forEachGeoPoint(
        _ target: IndexTarget,
        _ field: FieldPath,
        in boxes: [GeoIndexBox],
        outside excluded: [GeoIndexBox],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError)

    /// Checks that the query was not cancelled and may continue. It is called between reads of documents.
    func checkCancellation() throws(StatusError)
}

/// A cursor over the rows of a scan, in the scan's order, without duplicates.
///
/// A cursor reads rows on demand, so that memory use does not depend on their number; over a network it reads them in batches.
package protocol IndexCursor: AnyObject {
    /// Advances to the next row; false at the end.
    func next() throws(StatusError) -> Bool

    /// The key of the row's value, valid until the next step; empty in ``IndexScan/Index/documents``.
    var value: UnsafeRawBufferPointer { get }

    /// The key of the document's name.
    var name: [UInt8] { get }

    /// The number of joined probes that find the row's document, up to the first that does not.
    var matchedProbeCount: Int { get }
}

/// A repeated point lookup: whether documents have an entry with one value.
package protocol IndexProbe: AnyObject {
    /// Returns whether the document with a name has an entry.
    func contains(_ name: [UInt8]) throws(StatusError) -> Bool
}
