package import DocumentModel

/// A consistent view of an index as of one commit, from which queries take their candidates.
///
/// A store implements it over its index entries. A view, its cursors and its probes are confined to one thread, and all calls
/// throw `.cancelled` after the query has been cancelled, and `.unavailable` when the index cannot be read. Entries may be a
/// superset of the documents that match, because each candidate is evaluated on its document.
package protocol QueryIndex: AnyObject {
    /// The time of the view's last commit; `nil` before the first commit.
    var commitTime: Timestamp? { get }

    /// Returns the indexing policy that queries of the collections with a given ID can rely on.
    ///
    /// - Parameter collection: The collection ID; `nil` for queries of all documents.
    func policy(of collection: CollectionID?) throws(StatusError) -> IndexingPolicy

    /// Returns the documents of a source that could not be read when the index was built, so that it has no entries of their
    /// fields.
    func unreadablePaths(in source: StructuredQuery.Source) throws(StatusError) -> [DocumentPath]

    /// Opens a cursor.
    ///
    /// - Parameter lookups: Point lookups of each row's document, one after the other until one does not find it; see
    ///   ``IndexCursor/matchedProbeCount``. An index can join them with the scan.
    func cursor(_ scan: IndexScan, probing lookups: [IndexScan.PointLookup]) throws(StatusError) -> any IndexCursor

    /// Prepares a repeated point lookup.
    ///
    /// - Parameter target: The documents to look up.
    func probe(_ lookup: IndexScan.PointLookup, of target: IndexTarget) throws(StatusError) -> any IndexProbe

    /// Calls `body` with each row of a scan, in no defined order, until it returns `false`. It is the fastest way to read many
    /// rows.
    func forEachEntry(_ scan: IndexScan, _ body: (IndexEntry) throws(StatusError) -> Bool) throws(StatusError)

    /// Returns the number of rows of a scan, counted up to `limit`.
    func count(_ scan: IndexScan, limit: Int?) throws(StatusError) -> Int

    /// Calls `body` once with the name of each document that has a geo point in one of several boxes, in no defined order, until it
    /// returns `false`. Some points may be outside a box, by at most 1e-7 degrees.
    ///
    /// - Parameter excluded: Boxes whose documents are skipped.
    func forEachGeoPoint(
        _ target: IndexTarget,
        _ field: FieldPath,
        in boxes: [GeoIndexBox],
        outside excluded: [GeoIndexBox],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError)

    /// Calls `body` once with the vector of each document of a target that has one in a field, in no defined order, until it returns
    /// `false`.
    func forEachVector(
        _ target: IndexTarget,
        _ field: FieldPath,
        _ body: (IndexVector) throws(StatusError) -> Bool
    ) throws(StatusError)

    /// Prepares a repeated lookup of the vectors that documents of a target have in a field.
    func vectorLookup(_ target: IndexTarget, _ field: FieldPath) throws(StatusError) -> any IndexVectorLookup

    /// Checks that the query was not cancelled and may continue. It is called between reads of documents.
    func checkCancellation() throws(StatusError)
}

/// A row of a scan, valid during the call that it is passed to.
package struct IndexEntry {
    /// The key of the row's value; empty in ``IndexScan/Index/documents``.
    package let value: UnsafeRawBufferPointer
    /// True if the value is a field of a document and a double; keys do not tell 1 from 1.0. False in other indexes than
    /// ``IndexScan/Index/values(of:)``.
    package let isDouble: Bool
    /// The key of the document's name.
    package let name: UnsafeRawBufferPointer

    /// Creates a row.
    package init(value: UnsafeRawBufferPointer, isDouble: Bool, name: UnsafeRawBufferPointer) {
        self.value = value
        self.isDouble = isDouble
        self.name = name
    }
}

/// A vector of a document, valid during the call that it is passed to.
package struct IndexVector {
    /// The key of the document's name.
    package let name: UnsafeRawBufferPointer
    /// The bytes of the ``PackedVector``.
    package let bytes: UnsafeRawBufferPointer
    /// True if the packed vector is exact.
    package let isExact: Bool

    /// Creates a vector.
    package init(name: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer, isExact: Bool) {
        self.name = name
        self.bytes = bytes
        self.isExact = isExact
    }
}

/// A cursor over the rows of a scan, in the scan's order, without duplicates.
///
/// A cursor reads rows on demand, so that memory use does not depend on their number.
package protocol IndexCursor: AnyObject {
    /// Advances to the next row; `false` at the end.
    func next() throws(StatusError) -> Bool

    /// The key of the row's value, valid until the next step; empty in ``IndexScan/Index/documents``.
    var value: UnsafeRawBufferPointer { get }

    /// The key of the document's name.
    var name: [UInt8] { get }

    /// The number of joined probes that find the row's document, up to the first that does not.
    var matchedProbeCount: Int { get }

    /// The number of next rows that are cheaper to step over than to open another cursor after them.
    var cheapStepCount: Int { get }
}

extension IndexCursor {
    /// The number for an index in the process.
    package var cheapStepCount: Int { 8 }
}

/// A repeated point lookup: whether documents have an entry with one value.
package protocol IndexProbe: AnyObject {
    /// Returns whether the document with a name has an entry.
    func contains(_ name: [UInt8]) throws(StatusError) -> Bool
}

/// A repeated lookup of the vectors that documents have in one field.
package protocol IndexVectorLookup: AnyObject {
    /// Calls `body` with the vector of the document with a name, if it has one.
    func withVector(of name: [UInt8], _ body: (IndexVector) throws(StatusError) -> Void) throws(StatusError)
}
