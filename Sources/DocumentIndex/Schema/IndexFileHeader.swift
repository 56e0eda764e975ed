internal import DocumentModel
internal import DocumentStore
internal import GRDB

/// The metadata row of an index file: its format, its history and the last commit that it contains.
struct IndexFileHeader {
    let epoch: Epoch
    /// The sequence number of the last commit in the index.
    let sequence: SequenceNumber
    /// The time of that commit; `nil` before the first commit.
    let time: Timestamp?
    /// The identity of the server run that last wrote the file; see ``IndexFile``.
    let edition: String
    /// True if the build of the index was completed.
    var isComplete = false

    init(epoch: Epoch, sequence: SequenceNumber, time: Timestamp?, edition: String) {
        self.epoch = epoch
        self.sequence = sequence
        self.time = time
        self.edition = edition
    }

    /// Reads the header; `nil` if the database has another format.
    init?(_ database: Database) throws {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id")
        guard application == IndexSchema.applicationID,
            // Another format may have other columns.
            try Int.fetchOne(database, sql: "SELECT format FROM state") == IndexSchema.format,
            let row = try Row.fetchOne(database, sql: "SELECT keys, epoch, sequence, time, isComplete, edition FROM state"),
            // In a damaged file, any column may be null.
            row[0] as Int? == KeyEncoder.version, let edition = row[5] as String?,
            let epoch = (row[1] as String?).flatMap({ Epoch($0) }),
            let sequence = (row[2] as Int64?).flatMap(UInt64.init(exactly:))
        else { return nil }
        self.epoch = epoch
        self.sequence = SequenceNumber(sequence)
        time = (row[3] as Int64?).flatMap { try? Timestamp(microseconds: $0) }
        isComplete = row[4] as Bool? ?? false
        self.edition = edition
    }

    /// Inserts the header into a new database.
    func insert(_ database: Database) throws {
        try database.execute(
            sql: "INSERT INTO state VALUES (1, ?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                IndexSchema.format, KeyEncoder.version, epoch.description, Int64(sequence.rawValue), time?.microseconds,
                isComplete, edition,
            ]
        )
    }
}
