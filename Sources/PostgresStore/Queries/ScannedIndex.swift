internal import DocumentModel
internal import DocumentStore
internal import QueryEngine
internal import Synchronization

/// The documents of an ``EngineSnapshot``, as the index and the documents of a query.
///
/// Only names are indexed, so that a query reads all documents of its source, in batches, and filters and sorts them here. Documents
/// come with their names; the one of the current row is kept.
final class ScannedIndex: QueryIndex, QueryDocuments {
    private let snapshot: EngineSnapshot
    private let cancellation: Cancellation
    private var current: EncodedDocument?
    private(set) var readCount = 0

    /// A note that the task of a query was cancelled.
    final class Cancellation: Sendable {
        private let isCancelled = Atomic(false)

        func cancel() {
            isCancelled.store(true, ordering: .relaxed)
        }

        func check() throws(StatusError) {
            if isCancelled.load(ordering: .relaxed) { throw StatusError(.cancelled, "The query was cancelled.") }
        }
    }

    init(_ snapshot: EngineSnapshot, _ cancellation: Cancellation) {
        self.snapshot = snapshot
        self.cancellation = cancellation
    }

    var time: Timestamp { snapshot.time ?? .minimum }

    var commitTime: Timestamp? { snapshot.time }

    func policy(of collection: CollectionID?) throws(StatusError) -> IndexingPolicy { .namesOnly }

    func checkCancellation() throws(StatusError) { try cancellation.check() }

    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        readCount += 1
        if let current, current.path == path { return current }
        return try snapshot.document(at: path)
    }

    /// None: the engine's rows are read as a whole.
    func unreadablePaths(in source: StructuredQuery.Source) -> [DocumentPath] { [] }

    /// None: the view has no commits after its time.
    func changedPaths(in source: StructuredQuery.Source) throws(StatusError) -> [DocumentPath] { [] }

    func images(ofChanged paths: ArraySlice<DocumentPath>) throws(StatusError) -> [EncodedDocument] { [] }

    func cursor(_ scan: IndexScan, probing lookups: [IndexScan.PointLookup]) throws(StatusError) -> any IndexCursor {
        guard lookups.isEmpty else { throw Self.notIndexed }
        return Cursor(self, try rows(of: scan), prefix: scan.target.namePrefix)
    }

    func forEachEntry(_ scan: IndexScan, _ body: (IndexEntry) throws(StatusError) -> Bool) throws(StatusError) {
        let cursor = Cursor(self, try rows(of: scan), prefix: scan.target.namePrefix)
        while try cursor.next() {
            let continues = cursor.name.withUnsafeBytes { name in
                Result { () throws(StatusError) in
                    try body(IndexEntry(value: cursor.value, isDouble: false, name: name))
                }
            }
            guard try continues.get() else { return }
        }
    }

    func count(_ scan: IndexScan, limit: Int?) throws(StatusError) -> Int {
        try checkCancellation()
        let (lower, upper) = try bounds(of: scan)
        return try snapshot.count(
            scan.target.scope,
            from: EngineKey.lowerBound(lower),
            to: EngineKey.upperBound(upper),
            limit: limit ?? .max
        )
    }

    // Fields have no index, so that no plan uses the following.

    func probe(_ lookup: IndexScan.PointLookup, of target: IndexTarget) throws(StatusError) -> any IndexProbe {
        throw Self.notIndexed
    }

    func forEachGeoPoint(
        _ target: IndexTarget,
        _ field: FieldPath,
        in boxes: [GeoIndexBox],
        outside excluded: [GeoIndexBox],
        _ body: (UnsafeRawBufferPointer) throws(StatusError) -> Bool
    ) throws(StatusError) {
        throw Self.notIndexed
    }

    func forEachVector(
        _ target: IndexTarget,
        _ field: FieldPath,
        _ body: (IndexVector) throws(StatusError) -> Bool
    ) throws(StatusError) {
        throw Self.notIndexed
    }

    func vectorLookup(_ target: IndexTarget, _ field: FieldPath) throws(StatusError) -> any IndexVectorLookup {
        throw Self.notIndexed
    }

    private static let notIndexed = StatusError(.internal, "The plan of the query uses an index that the engine does not have.")
}

extension ScannedIndex {
    private func rows(of scan: IndexScan) throws(StatusError) -> DocumentRows {
        let (lower, upper) = try bounds(of: scan)
        return DocumentRows(snapshot, scan.target.scope, from: lower, to: upper, isDescending: scan.isDescending)
    }

    /// Returns the bounds of a scan as keys of whole paths.
    private func bounds(of scan: IndexScan) throws(StatusError) -> (lower: [UInt8], upper: [UInt8]) {
        guard scan.index == .documents else { throw Self.notIndexed }
        let (prefix, bounds) = (scan.target.namePrefix, scan.bounds)
        return (prefix + bounds.lower.name, prefix + bounds.upper.name)
    }

    /// A cursor over the documents of a scan.
    private final class Cursor: IndexCursor {
        private let index: ScannedIndex
        private let rows: DocumentRows
        private let prefixCount: Int
        private(set) var name: [UInt8] = []

        init(_ index: ScannedIndex, _ rows: DocumentRows, prefix: [UInt8]) {
            self.index = index
            self.rows = rows
            prefixCount = prefix.count
        }

        func next() throws(StatusError) -> Bool {
            try index.checkCancellation()
            let row = try rows.next()
            index.current = row?.document
            name = row.map { Array($0.key.dropFirst(prefixCount)) } ?? []
            return row != nil
        }

        var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

        var matchedProbeCount: Int { 0 }
    }
}

extension IndexTarget {
    /// The rows of its documents.
    fileprivate var scope: EngineSnapshot.Scope {
        switch self {
        case .collection(let path): .collection(path)
        case .group(let id, below: _): .group(id)
        case .all: .database
        }
    }

    /// The start of its documents' keys that their names omit.
    fileprivate var namePrefix: [UInt8] {
        if case .collection(let path) = self { NameKey(path).bytes } else { [] }
    }
}
