package import DocumentModel

/// A server timestamp in a queued write, which only the server can set.
///
/// Documents hold null at its field, and the pending timestamp beside their fields.
package struct PendingTimestamp: Hashable, Sendable {
    /// The estimated time of the write, in whole milliseconds as the server's timestamps are.
    package let estimate: Timestamp
    /// The last value that the field had before any pending timestamp; `nil` if it had none.
    package let previous: Value?

    /// Creates a pending timestamp.
    package init(estimate: Timestamp, previous: Value?) {
        self.estimate = estimate
        self.previous = previous
    }

    /// The substitutes for a pending timestamp when a document is read.
    package enum Resolution: Hashable, Sendable {
        /// Null.
        case none
        /// The estimated time of the write.
        case estimate
        /// The field's previous value; null if it had none.
        case previous
    }

    /// Returns the value of the field for a reader.
    package func value(_ resolution: Resolution) -> Value {
        switch resolution {
        case .none: .null
        case .estimate: .timestamp(estimate)
        case .previous: previous ?? .null
        }
    }
}

extension [FieldPath: PendingTimestamp] {
    /// Returns fields with the values of the pending timestamps among them for a reader.
    package func resolved(_ resolution: PendingTimestamp.Resolution, in fields: MapValue) -> MapValue {
        guard resolution != .none, !isEmpty else { return fields }
        var fields = fields
        for (field, pending) in self { fields.set(pending.value(resolution), at: field) }
        return fields
    }

    /// Removes the pending timestamps that a new value at a field replaces: at the field, inside it, and around it.
    mutating func removeOverlaps(with field: FieldPath) {
        guard !isEmpty else { return }
        self = filter { pending, _ in !field.isPrefix(of: pending) && !pending.isPrefix(of: field) }
    }

    /// Removes the pending timestamps at or inside a field that was deleted.
    mutating func removeAll(in field: FieldPath) {
        guard !isEmpty else { return }
        self = filter { pending, _ in !field.isPrefix(of: pending) }
    }
}
