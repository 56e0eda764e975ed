internal import Concurrency
internal import DocumentModel
internal import StorageIO

/// A read of the latest version of a document, which shares a statement with those that wait with it.
struct DocumentGet: Sendable {
    /// Combines reads of all databases.
    typealias Batcher = ReadBatcher<DocumentGet, EncodedDocument?, StatusError>

    /// The number of the database.
    private let database: Int64
    /// The stored name of the document.
    private let name: [UInt8]
    private let admission = CallAdmission.current
    private let waiting = Stopwatch()

    init(_ path: DocumentPath, in database: Int64) {
        self.database = database
        name = EngineKey.name(path)
    }

    /// Creates the batcher of a server. Half of the connections for reads keep the engine busy, and the others are left for lists. A statement
    /// has a few documents only, since each may be large.
    static func makeBatcher(_ configuration: PostgresConfiguration) -> Batcher {
        let limits = Batcher.Limits(
            requestCount: max(1, configuration.readConnectionCount / 2),
            readCount: 16,
            queueCount: EnginePool.maximumWaiterCount,
            queueTime: configuration.maximumWait
        )
        return Batcher(limits: limits) { refusal in
            switch refusal {
            case .cancelled: StatusError(.cancelled, "The task was cancelled.")
            case .queueCount: EnginePool.tooManyWaiters
            case .queueTime: EnginePool.noFreeConnection
            }
        }
    }

    /// Returns the results of reads, in one statement: `nil` for documents that do not exist.
    static func results(
        of gets: [DocumentGet],
        over connections: EnginePool
    ) async -> [Result<EncodedDocument?, StatusError>] {
        do throws(StatusError) {
            return try await connections.read { connection throws(StatusError) in try results(of: gets, over: connection) }
        } catch {
            return gets.map { _ in .failure(error) }
        }
    }

    private static func results(
        of gets: [DocumentGet],
        over connection: EngineConnection
    ) throws(StatusError) -> [Result<EncodedDocument?, StatusError>] {
        var results = [Result<EncodedDocument?, StatusError>](repeating: .failure(.databaseDeleted), count: gets.count)
        var admitted: [Int] = []
        for (index, get) in gets.enumerated() {
            if let refusal = get.admission?.begin(after: get.waiting) {
                results[index] = .failure(StatusError(refusing: refusal))
            } else {
                admitted.append(index)
            }
        }
        guard !admitted.isEmpty else { return results }
        let rows = try connection.execute(
            EngineStatement(
                sql,
                .integers(admitted.map { gets[$0].database }),
                .byteStrings(admitted.map { gets[$0].name })
            )
        )
        for row in 0..<rows.count {
            guard let number = rows.integer(row, 0) else { throw .damagedRow("a read has no number") }
            results[admitted[Int(number) - 1]] = Result { () throws(StatusError) in
                rows.isNull(row, 1) ? nil : try rows.document(row, path: 1, fields: 2, created: 3, updated: 4)
            }
        }
        return results
    }

    /// Has a row for each read of a database that exists.
    private static let sql = """
        SELECT r.number, d.path, d.fields, d.created, d.updated
        FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS r (db, name, number)
        JOIN hearth.databases b ON b.db = r.db AND b.name IS NOT NULL
        LEFT JOIN hearth.documents d ON d.db = r.db AND d.name = r.name
        """
}
