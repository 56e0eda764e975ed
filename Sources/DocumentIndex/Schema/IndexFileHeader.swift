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
        // Cached statements: every query reads the header.
        let application = try IndexStatement("PRAGMA application_id", database)
        defer { application.reset() }
        guard try application.step(), application.integer(0) == IndexSchema.applicationID else { return nil }
        // Another format may have other columns.
        let format = try IndexStatement("SELECT format FROM state", database)
        defer { format.reset() }
        guard try format.step(), format.integer(0) == IndexSchema.format else { return nil }
        let row = try IndexStatement("SELECT keys, epoch, sequence, time, isComplete, edition FROM state", database)
        defer { row.reset() }
        // In a damaged file, any column may be null.
        guard try row.step(), row.integer(0) == KeyEncoder.version, let epoch = row.text(1).flatMap({ Epoch($0) }),
            let sequence = UInt64(exactly: row.integer(2)), !row.isNull(2), let edition = row.text(5)
        else { return nil }
        self.epoch = epoch
        self.sequence = SequenceNumber(sequence)
        time = row.isNull(3) ? nil : try? Timestamp(microseconds: row.integer(3))
        isComplete = row.integer(4) != 0
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
