import DocumentModel
import DocumentStore
import QueryEngine
import StrictJSON
import TestSupport
import UTF8Text

@testable import DocumentIndex
@testable import FileStore

extension FileStore {
    /// Reads a snapshot of the index that includes all commits so far.
    func readIndex<Result: Sendable>(
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await components.index.read(atLeast: position.lastSequence, body)
    }

    /// Returns all rows of a scan.
    func rows(_ scan: IndexScan) async throws -> [IndexScan.Position] {
        try await readIndex { snapshot throws(StatusError) in
            let cursor = try snapshot.cursor(scan, probing: [])
            var rows: [IndexScan.Position] = []
            while try cursor.next() { rows.append(IndexScan.Position(value: Array(cursor.value), name: cursor.name)) }
            return rows
        }
    }

    func count(_ scan: IndexScan, limit: Int? = nil) async throws -> Int {
        try await readIndex { snapshot throws(StatusError) in try snapshot.count(scan, limit: limit) }
    }

    /// Returns the paths of the documents with a geo point in a box, in the field `place.at`.
    func pathsOfGeoPoints(_ target: IndexTarget, in box: GeoIndexBox) async throws -> [String] {
        let field = try FieldPath("place.at")
        return try await readIndex { snapshot throws(StatusError) in
            var paths: [String] = []
            try snapshot.forEachGeoPoint(target, field, in: [box], outside: []) { name in
                if case .collection(let collection) = target {
                    if let id = DocumentPath.ID(nameKey: name) { paths.append(collection.document(id).string) }
                } else if let path = DocumentPath(nameKey: name) {
                    paths.append(path.string)
                }
                return true
            }
            return paths.sorted()
        }
    }

    /// Returns the IDs of a collection's documents whose field equals an integer, according to the index.
    func ids(in collection: String, where field: String, is number: Int64) async throws -> [String] {
        let scan = IndexScan(
            target: .collection(try CollectionPath(collection)),
            index: .values(of: try FieldPath(field)),
            values: .equal(to: ValueKey(.integer(number)))
        )
        return try await rows(scan).compactMap { DocumentPath.ID(nameKey: $0.name)?.key.string }
    }
}

extension StoreFixture {
    /// Checks the folder of the closed store; returns the findings without notices.
    func findings() async throws -> [CheckFinding] {
        try await check().findings.filter { !$0.isNotice }
    }
}
