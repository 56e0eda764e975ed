internal import DocumentModel
internal import GRDB
internal import SyncEngine

extension Database {
    /// Returns whether a table of the queue has rows of a user.
    func hasRows(_ table: String, of user: UserID) throws -> Bool {
        let lookup = try CacheStatement("SELECT 1 FROM \(table) WHERE user = ? LIMIT 1", self)
        lookup.bind(user.columnText, at: 1)
        return try lookup.firstRow { _ in true } != nil
    }
}

// MARK: States

extension Database {
    /// Returns the state of a user's queue; `nil` if there is none.
    func queueState(for user: UserID) throws -> QueueState? {
        let lookup = try CacheStatement("SELECT \(QueueState.columns) FROM queue WHERE user = ?", self)
        lookup.bind(user.columnText, at: 1)
        return try lookup.firstRow { try QueueState($0, user: user) }
    }

    /// Stores the state of a user's queue.
    func save(_ state: QueueState, for user: UserID) throws {
        let insertion = try CacheStatement(
            "INSERT OR REPLACE INTO queue (\(QueueState.columns), user) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            self
        )
        insertion.bind(bytes: state.identity.client.bytes, at: 1)
        insertion.bind(state.identity.precedingNumber, at: 2)
        insertion.bind(state.lastNumber, at: 3)
        insertion.bind(state.decidedNumber, at: 4)
        insertion.bind(state.sentNumber, at: 5)
        insertion.bind(state.byteCount, at: 6)
        insertion.bind(state.checksum(for: user), at: 7)
        insertion.bind(user.columnText, at: 8)
        try insertion.run()
    }
}

extension QueueState {
    static let columns = "client, preceding, last, decided, sent, bytes, checksum"

    /// Creates a state from a row with the ``columns``.
    init(_ row: CacheRow, user: UserID) throws {
        guard let client = CommitClientID(bytes: row.bytes(0)) else {
            throw CacheDatabaseError(corruption: "the ID of a client has an unexpected length")
        }
        self.init(
            identity: QueueIdentity(client: client, precedingNumber: try row.number(1)),
            lastNumber: try row.number(2),
            decidedNumber: try row.number(3),
            sentNumber: try row.number(4),
            byteCount: Int(clamping: try row.integer(5))
        )
        guard try row.integer(6) == checksum(for: user) else {
            throw CacheDatabaseError(corruption: "the state of a queue has a wrong checksum")
        }
    }

    fileprivate func checksum(for user: UserID) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(user.columnText)
        checksum.add(identity.client.bytes)
        for number in [identity.precedingNumber, lastNumber, decidedNumber, sentNumber] { checksum.add(number) }
        checksum.add(Int64(byteCount))
        return checksum.value
    }
}

// MARK: Batches

extension Database {
    /// Inserts a batch, whose writes are encoded.
    func insert(_ batch: MutationBatch, _ writes: [UInt8], for user: UserID) throws {
        let base = StoredJSON.encode(batch.baseValues)
        let insertion = try CacheStatement(
            "INSERT INTO batch (user, number, time, bytes, checksum, base, writes) VALUES (?, ?, ?, ?, ?, ?, ?)",
            self
        )
        insertion.bind(user.columnText, at: 1)
        insertion.bind(batch.number, at: 2)
        insertion.bind(batch.localTime, at: 3)
        insertion.bind(batch.byteCount, at: 4)
        insertion.bind(MutationBatch.checksum(user, batch.number, batch.localTime, base, writes), at: 5)
        insertion.bind(text: base, at: 6)
        insertion.bind(text: writes, at: 7)
        try insertion.run()
        let document = try CacheStatement("INSERT INTO batch_document (path, user, number) VALUES (?, ?, ?)", self)
        document.bind(user.columnText, at: 2)
        document.bind(batch.number, at: 3)
        for path in batch.paths {
            document.bind(path.string, at: 1)
            try document.run()
        }
    }

    /// Deletes a batch.
    func delete(_ batch: MutationBatch, for user: UserID) throws {
        let deletion = try CacheStatement("DELETE FROM batch WHERE user = ? AND number = ?", self)
        deletion.bind(user.columnText, at: 1)
        deletion.bind(batch.number, at: 2)
        try deletion.run()
        let document = try CacheStatement("DELETE FROM batch_document WHERE path = ? AND user = ? AND number = ?", self)
        document.bind(user.columnText, at: 2)
        document.bind(batch.number, at: 3)
        for path in batch.paths {
            document.bind(path.string, at: 1)
            try document.run()
        }
    }

    /// Returns a batch; `nil` if there is none.
    func batch(_ number: BatchNumber, for user: UserID) throws -> MutationBatch? {
        let lookup = try CacheStatement("SELECT \(MutationBatch.columns) FROM batch WHERE user = ? AND number = ?", self)
        lookup.bind(user.columnText, at: 1)
        lookup.bind(number, at: 2)
        return try lookup.firstRow { try MutationBatch($0, user: user) }
    }

    /// Returns the first batch after a number; `nil` if there is none.
    func batch(after number: BatchNumber, for user: UserID) throws -> MutationBatch? {
        let lookup = try CacheStatement(
            "SELECT \(MutationBatch.columns) FROM batch WHERE user = ? AND number > ? ORDER BY number LIMIT 1",
            self
        )
        lookup.bind(user.columnText, at: 1)
        lookup.bind(number, at: 2)
        return try lookup.firstRow { try MutationBatch($0, user: user) }
    }
}

extension MutationBatch {
    static let columns = "number, time, checksum, base, writes"

    /// Creates a batch from a row with the ``columns``.
    init(_ row: CacheRow, user: UserID) throws {
        try self.init(row.number(0), row.time(1), base: row.bytes(3), writes: row.bytes(4), checksum: row.integer(2), user: user)
    }

    /// Creates a batch from the values of its columns.
    init(
        _ number: BatchNumber,
        _ time: Timestamp,
        base: [UInt8],
        writes: [UInt8],
        checksum: Int64,
        user: UserID
    ) throws {
        guard checksum == Self.checksum(user, number, time, base, writes) else {
            throw CacheDatabaseError(corruption: "batch \(number) has a wrong checksum")
        }
        self.init(
            number: number,
            localTime: time,
            writes: try StoredJSON.writes(writes),
            baseValues: base.isEmpty ? [] : try StoredJSON.baseValues(base)
        )
    }

    fileprivate static func checksum(
        _ user: UserID,
        _ number: BatchNumber,
        _ time: Timestamp,
        _ base: [UInt8]?,
        _ writes: [UInt8]
    ) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(user.columnText)
        checksum.add(number)
        checksum.add(time.microseconds)
        checksum.add(base ?? [])
        checksum.add(writes)
        return checksum.value
    }
}

// MARK: Rejected batches

extension Database {
    /// Inserts a rejected batch.
    func insert(_ rejected: RejectedBatch, for user: UserID) throws {
        let insertion = try CacheStatement(
            "INSERT INTO rejected (\(RejectedBatch.columns), user) VALUES (?, ?, ?, ?, ?, ?, ?)",
            self
        )
        let writes = StoredJSON.encode(rejected.writes)
        insertion.bind(rejected.number, at: 1)
        insertion.bind(rejected.localTime, at: 2)
        insertion.bind(rejected.code.rawValue, at: 3)
        insertion.bind(rejected.message, at: 4)
        insertion.bind(rejected.checksum(user, writes), at: 5)
        insertion.bind(text: writes, at: 6)
        insertion.bind(user.columnText, at: 7)
        try insertion.run()
    }
}

extension RejectedBatch {
    static let columns = "number, time, code, message, checksum, writes"

    /// Creates a rejected batch from a row with the ``columns``.
    init(_ row: CacheRow, user: UserID) throws {
        guard let code = StatusCode(rawValue: Int(clamping: try row.integer(2))) else {
            throw CacheDatabaseError(corruption: "a rejected batch has an unknown code")
        }
        let writes = row.bytes(5)
        self.init(
            number: try row.number(0),
            localTime: try row.time(1),
            writes: try StoredJSON.writes(writes),
            code: code,
            message: try row.text(3)
        )
        guard try row.integer(4) == checksum(user, writes) else {
            throw CacheDatabaseError(corruption: "a rejected batch has a wrong checksum")
        }
    }

    fileprivate func checksum(_ user: UserID, _ writes: [UInt8]) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(user.columnText)
        checksum.add(number)
        checksum.add(localTime.microseconds)
        checksum.add(Int64(code.rawValue))
        checksum.add(message)
        checksum.add(writes)
        return checksum.value
    }
}
