import DocumentModel
import StrictJSON
import TestSupport

@testable import DocumentStore

extension FileStore {
    /// Reads the index as it is with all commits so far.
    func readIndex<Result: Sendable>(
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await parts.index.read(atLeast: position.lastSequence, body)
    }

    /// All rows of a scan.
    func rows(_ scan: IndexScan) async throws -> [IndexScan.Position] {
        try await readIndex { snapshot throws(StatusError) in
            let cursor = try snapshot.cursor(scan)
            var rows: [IndexScan.Position] = []
            while try cursor.next() { rows.append(cursor.position) }
            return rows
        }
    }

    func count(_ scan: IndexScan, limit: Int? = nil) async throws -> Int {
        try await readIndex { snapshot throws(StatusError) in try snapshot.count(scan, limit: limit) }
    }

    /// The paths of the documents with a place in a box, in the field `place.at`.
    func places(_ target: IndexTarget, in box: IndexPlace) async throws -> [String] {
        let field = try FieldPath("place.at")
        return try await readIndex { snapshot throws(StatusError) in
            var paths: [String] = []
            try snapshot.forEachPlace(target, field, in: [box]) { name in
                if case .collection(let collection) = target {
                    if let id = DocumentID(nameKey: name) { paths.append(collection.document(id).string) }
                } else if let path = DocumentPath(nameKey: name) {
                    paths.append(path.string)
                }
                return true
            }
            return paths.sorted()
        }
    }

    /// The IDs of the documents of a collection with an integer in a field, as the index has it.
    func ids(in collection: String, where field: String, is number: Int64) async throws -> [String] {
        let scan = IndexScan(
            target: .collection(try CollectionPath(collection)),
            subject: .values(of: try FieldPath(field)),
            values: .equal(to: ValueKey(.integer(number)))
        )
        return try await rows(scan).compactMap { DocumentID(nameKey: $0.name)?.key.string }
    }
}

extension StoreFixture {
    /// What a check of the folder finds, notices left out; the store must be closed.
    func findings() async throws -> [CheckFinding] {
        try await check().findings.filter { !$0.isNotice }
    }
}
