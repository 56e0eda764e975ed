internal import DocumentModel
internal import GRDB

/// What an index says of itself.
struct IndexState {
    let epoch: Epoch
    /// The last commit that is in it.
    let sequence: SequenceNumber
    /// That one's time; nil before the first.
    let time: Timestamp?
    /// Which of Hearth's starts has written it; see ``IndexFile``.
    let edition: String
    /// Whether all documents are in it.
    var isComplete = false

    init(epoch: Epoch, sequence: SequenceNumber, time: Timestamp?, edition: String) {
        self.epoch = epoch
        self.sequence = sequence
        self.time = time
        self.edition = edition
    }

    /// Reads what a database says; nil when it is none of this format.
    init?(_ database: Database) throws {
        let application = try Int.fetchOne(database, sql: "PRAGMA application_id")
        guard application == IndexSchema.applicationID,
            // Another format may have other columns.
            try Int.fetchOne(database, sql: "SELECT format FROM state") == IndexSchema.format,
            let row = try Row.fetchOne(database, sql: "SELECT keys, epoch, sequence, time, isComplete, edition FROM state"),
            row[0] == KeyEncoder.version,
            let epoch = Epoch(row[1] as String), let sequence = UInt64(exactly: row[2] as Int64)
        else { return nil }
        self.epoch = epoch
        self.sequence = SequenceNumber(sequence)
        time = (row[3] as Int64?).flatMap { try? Timestamp(microseconds: $0) }
        isComplete = row[4]
        edition = row[5]
    }

    /// Writes it into a new database.
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
