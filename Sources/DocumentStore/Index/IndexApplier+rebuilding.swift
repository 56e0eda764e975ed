internal import DocumentModel
internal import GRDB

extension IndexApplier {
    /// Makes the index anew from documents as they come.
    ///
    /// Nothing can be taken back while it is made, so after an error it has to be begun again.
    ///
    /// - Parameters:
    ///   - start: The commits up to here are in the files.
    ///   - definitions: What is to be indexed.
    ///   - fill: Adds documents until it is done.
    mutating func rebuild(
        from start: (sequence: SequenceNumber, time: Timestamp?),
        _ definitions: IndexDefinitions,
        fill: (inout Filling) throws(Obstacle) -> Void
    ) throws(Obstacle) {
        close()
        try Self.folder { () throws(StatusError) in try file.makeEmpty() }
        isMarked = true
        let database = try Self.index { () throws(IndexFailure) in try file.openForWriting(isNew: true) }
        defer { try? database.close() }
        var end = start
        do {
            let (epoch, file) = (epoch, file)
            try database.inDatabase { database in
                // One transaction, so that a page is written when there is no more room for it in memory, and not every time.
                try database.execute(sql: IndexSchema.statements)
                try database.execute(sql: "BEGIN")
                try IndexState(epoch: epoch, sequence: start.sequence, time: start.time, edition: file.edition).insert(database)
                for collection in definitions.collections {
                    try IndexRuleState(settled: definitions.rules(of: collection)).store(collection, database)
                }
                var filling = Filling(writer: try IndexWriter(database), file: file, last: start)
                try fill(&filling)
                try database.execute(sql: "COMMIT")
                // Not before all else is in the file: pages are written in no order that would tell.
                try filling.writer.setState(filling.last.sequence, filling.last.time)
                end = filling.last
            }
        } catch let obstacle as Obstacle {
            throw obstacle
        } catch {
            throw .index(IndexFailure(error))
        }
        try? database.close()
        self.database = try Self.index { () throws(IndexFailure) in try file.openForWriting(isNew: false) }
        rules = [:]
        applied = end.sequence
        edition = file.edition
    }
}
