internal import DocumentModel
internal import DocumentStore
internal import StrictJSON
internal import UTF8Text

/// The times around the commits that an engine has lost, in a fail-over or a restore, as the servers that have noticed recorded them.
///
/// A read as of such a time could show something else than one with the same time before, so it is refused. The time of a commit is
/// not refused: the log has that commit, and with it all before it.
struct LostHistory: Hashable, Sendable {
    /// The times after the last commit that survived, up to the time at which the loss was noticed, in microseconds.
    struct Period: Hashable, Sendable {
        fileprivate let after: Int64
        fileprivate let through: Int64

        fileprivate init(after: Int64, through: Int64) {
            (self.after, self.through) = (after, through)
        }

        /// Creates the period after one time and up to another.
        init(after: Timestamp, through: Timestamp) {
            self.init(after: after.microseconds, through: through.microseconds)
        }

        /// Returns whether a time is in the period.
        func contains(_ time: Timestamp) -> Bool { after < time.microseconds && time.microseconds <= through }

        /// Returns the period from the beginning of the earlier one of two to the end of the later one.
        func union(_ other: Period) -> Period {
            Period(after: min(after, other.after), through: max(through, other.through))
        }
    }

    private var periods: [Period] = []

    /// The number of periods that are remembered, the latest ones.
    private static let maximumCount = 16

    /// Decodes a record; `nil` for one that was never written.
    ///
    /// - Throws: `.dataLoss` when it is damaged.
    init(_ bytes: [UInt8]?) throws(StatusError) {
        guard let bytes else { return }
        guard let elements = try? JSONText(bytes).root["lost"]?.elements else { throw Self.damaged }
        for element in elements {
            guard let after = element[integer: "after"], let through = element[integer: "through"] else { throw Self.damaged }
            periods.append(Period(after: after, through: through))
        }
    }

    private static var damaged: StatusError { .damagedRow("the record of the lost history cannot be decoded") }

    /// Adds the times of a loss.
    mutating func add(_ loss: Period) {
        var period = loss
        // Several servers notice the same loss.
        for known in periods where known.after <= period.through && period.after <= known.through { period = period.union(known) }
        periods.removeAll { period.after <= $0.after && $0.through <= period.through }
        periods.append(period)
        periods.sort { $0.through < $1.through }
        periods.removeFirst(max(0, periods.count - Self.maximumCount))
    }

    /// Returns whether a time is one of the lost history.
    func contains(_ time: Timestamp) -> Bool {
        periods.contains { $0.contains(time) }
    }

    /// The record: `{"lost":[{"after":MICROSECONDS,"through":MICROSECONDS}]}`.
    var encoded: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("lost")
        writer.beginArray()
        for period in periods {
            writer.beginObject()
            writer.key("after")
            writer.integer(period.after)
            writer.key("through")
            writer.integer(period.through)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }
}

extension LostHistory {
    /// The error of a read as of a time of the lost history.
    static func lostReadTime(_ time: Timestamp) -> StatusError {
        StatusError(
            .failedPrecondition,
            "The database engine has lost commits around the read time \(time), in a fail-over or a restore. Begin the transaction again, "
                + "or use another read time."
        )
    }
}
