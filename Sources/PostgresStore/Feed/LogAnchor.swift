internal import DocumentModel
internal import DocumentStore

/// The last commit that a server knows. The log of an engine that has lost it, in a fail-over or a restore, lacks it, or has another one
/// with its number, which has another time.
struct LogAnchor: Hashable, Sendable {
    let sequence: SequenceNumber
    let time: Timestamp

    /// Creates the anchor of a commit with a number and a time.
    init(_ sequence: SequenceNumber, at time: Timestamp) {
        self.sequence = sequence
        self.time = time
    }

    /// Creates the anchor of a known position; `nil` before the first commit.
    init?(_ position: StorePosition) {
        guard position.lastSequence > .zero, let time = position.lastCommitTime else { return nil }
        sequence = position.lastSequence
        self.time = time
    }

    /// Creates the anchor of a commit.
    init(_ commit: Commit) {
        sequence = commit.sequence
        time = commit.time
    }

    /// A statement that looks for the commit.
    func statement(_ database: Int64) -> EngineStatement {
        EngineStatement(
            """
            SELECT oldest, (SELECT time FROM hearth.commits c WHERE c.db = d.db AND c.seq = $2::bigint)
            FROM hearth.databases d WHERE d.db = $1::bigint
            """,
            .integer(database),
            .integer(Int64(sequence.rawValue))
        )
    }

    /// Returns whether the log has the commit, or no longer retains it.
    func matches(_ rows: EngineRows) -> Bool {
        guard rows.count == 1, Int64(sequence.rawValue) >= rows.integer(0, 0) ?? 1 else { return true }
        return rows.time(0, 1) == time
    }
}
