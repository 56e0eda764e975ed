import DocumentModel
import TestSupport
import Testing

@testable import PostgresStore

extension EngineServer {
    /// An entry of the index without its scope, which is found by the name.
    private struct Entry: Hashable {
        let scope: Int64
        let slot: Int64
        let value: [UInt8]
        let name: [UInt8]
        let isDouble: Bool
        let vector: [UInt8]?
    }

    /// Expects that a database has the entries of its documents, and no others.
    func expectConsistentEntries(_ configuration: PostgresConfiguration, _ comment: Comment? = nil) throws {
        let connection = try EngineConnection(configuration.address, timeout: .seconds(60))
        let databases = try connection.execute(
            EngineStatement("SELECT db, seed, builds FROM hearth.databases WHERE name IS NOT NULL")
        )
        for row in 0..<databases.count {
            let number = try #require(databases.integer(row, 0))
            let progress = try IndexProgress(databases.bytes(row, 2))
            #expect(progress.isComplete, comment)
            var expected = EntryChanges(number, progress, FieldIDs(seed: try #require(databases.bytes(row, 1))))
            let documents = try connection.execute(
                EngineStatement(
                    "SELECT path, fields, collection, collection_group FROM hearth.documents WHERE db = $1::bigint",
                    .integer(number)
                )
            )
            for row in 0..<documents.count {
                let document = EncodedDocument(
                    path: try DocumentPath(try #require(documents.text(row, 0))),
                    createTime: .minimum,
                    updateTime: .minimum,
                    fieldsJSON: try #require(documents.bytes(row, 1))
                )
                expected.replace(
                    nil,
                    with: try document.decoded().fields,
                    at: document.path,
                    collection: try #require(documents.integer(row, 2)),
                    group: try #require(documents.integer(row, 3))
                )
            }
            let stored = try connection.execute(
                EngineStatement(
                    """
                    SELECT scope, slot, value, name, CASE WHEN is_double THEN 1::bigint ELSE 0::bigint END, vector
                    FROM hearth.entries WHERE db = $1::bigint
                    """,
                    .integer(number)
                )
            )
            let found = try (0..<stored.count).map { row in
                Entry(
                    scope: try #require(stored.integer(row, 0)),
                    slot: try #require(stored.integer(row, 1)),
                    value: try #require(stored.bytes(row, 2)),
                    name: try #require(stored.bytes(row, 3)),
                    isDouble: stored.integer(row, 4) == 1,
                    vector: stored.bytes(row, 5)
                )
            }
            #expect(Set(found) == Set(try Self.entries(expected)), comment)
        }
    }

    private static func entries(_ changes: EntryChanges) throws -> [Entry] {
        try changes.statements.flatMap(entries)
    }

    /// Returns the entries that a statement inserts.
    private static func entries(_ insertion: EngineStatement) throws -> [Entry] {
        let parameters = insertion.parameters
        guard case .integers(let owners) = parameters[1], case .integers(let slots) = parameters[2],
            case .byteStrings(let values) = parameters[3], case .integers(let scopes) = parameters[4],
            case .bytes(let names?) = parameters[5], case .integers(let starts) = parameters[6],
            case .integers(let lengths) = parameters[7], case .integers(let doubles) = parameters[9],
            case .byteStrings(let vectors) = parameters[10]
        else {
            Issue.record("the statement that inserts entries has other parameters")
            return []
        }
        return try slots.indices.map { index in
            let owner = Int(try #require(owners[index])) - 1
            let start = Int(try #require(starts[owner])) - 1
            return Entry(
                scope: try #require(scopes[owner]),
                slot: try #require(slots[index]),
                value: try #require(values[index]),
                name: Array(names[start..<start + Int(try #require(lengths[owner]))]),
                isDouble: doubles[index] == 1,
                vector: vectors[index]
            )
        }
    }
}
