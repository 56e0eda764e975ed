internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// The index as some commit left it, for as long as somebody reads it.
///
/// It lives on the thread that it was given on. Everything it gives is in the order of the index and read as it is asked for,
/// so it takes no more memory for a million rows than for one. While it lives the index can't reuse the room of what was
/// changed since, so nobody should keep one for long.
///
/// All calls throw `.cancelled` once the reader's task is cancelled, and `.unavailable` when the index can't be read.
final class IndexSnapshot {
    /// The last commit that is in it.
    let sequence: SequenceNumber
    /// That one's time; nil before the first.
    let commitTime: Timestamp?

    let database: Database
    private let reader: IndexReader
    var numbers = IndexNumbers()
    var statements: [String: [IndexStatement]] = [:]
    var owned: [Statement] = []
    private(set) var isEnded = false

    /// Begins to read, in a transaction.
    ///
    /// - Parameter file: The file that it should be of.
    init(_ database: Database, _ reader: IndexReader, of file: IndexFile) throws {
        guard let state = try IndexState(database), file.isKnown(state.edition) else { throw IndexFailure.replaced }
        sequence = state.sequence
        commitTime = state.time
        self.database = database
        self.reader = reader
    }

    /// Lets the others read beside one that takes long, and throws when the reader's task is cancelled: an interruption reaches
    /// only what is running at that moment.
    func checkCancellation() throws(StatusError) {
        try reader.goOn()
    }

    /// Ends all cursors.
    func end() {
        isEnded = true
        statements = [:]
        owned = []
    }

    /// Runs through entries or documents.
    ///
    /// - Parameter points: Where each row's document is looked up, one after another as long as it is there: the cursor tells in
    ///   how many it is. This is done inside SQLite, which takes half as long as a statement for each look.
    func cursor(_ scan: IndexScan, lookingIn points: [IndexScan.Point] = []) throws(StatusError) -> IndexCursor {
        try failing { () throws in
            var slots: [(Int64, value: [UInt8])] = []
            for point in points {
                guard let slot = try slot(of: point.subject) else { return IndexCursor(self, [], isDescending: false) }
                slots.append((slot, point.value))
            }
            let sources = try spaces(of: scan.target, scan.subject).map { space in
                let looks = slots.map { slot, value in IndexCursor.Look(space: space.scope.space(slot), value: value) }
                return try IndexCursor.Source(self, scan, space, looks)
            }
            return IndexCursor(self, sources, isDescending: scan.isDescending)
        }
    }

    /// How many rows a scan has, counted up to `limit`.
    func count(_ scan: IndexScan, limit: Int? = nil) throws(StatusError) -> Int {
        try failing { () throws in
            var count = 0
            for space in try spaces(of: scan.target, scan.subject) {
                let rest = limit.map { $0 - count }
                if let rest, rest <= 0 { break }
                count += try self.count(scan, space, limit: rest)
            }
            return count
        }
    }

    /// How much is in a collection; in all of them when nil.
    func size(of collection: CollectionPath?) throws(StatusError) -> CollectionSize {
        try failing { () throws in
            let scope = try collection.map { try numbers.scope(IndexNumbers.name(of: $0), making: false, in: database) }
            guard let scope = scope ?? IndexNumbers.all else { return .zero }
            let statement = try IndexStatement("SELECT documents, bytes FROM sizes WHERE scope = ?1", database)
            defer { statement.reset() }
            statement.bind(scope, at: 1)
            guard try statement.step() else { return .zero }
            return CollectionSize(documentCount: Int(statement.integer(0)), byteCount: Int(statement.integer(1)))
        }
    }
}
