package import DocumentModel

/// A small record that several processes share, and that is read and replaced as a whole: a file, or a row of an engine.
///
/// Readers see one version or the other, never a mixture.
package protocol AtomicRecord: Sendable {
    /// The name, for messages.
    var name: String { get }

    /// Returns the current version; `nil` if the record doesn't exist.
    func version() async throws(StatusError) -> AtomicRecordVersion?

    /// Reads the record.
    func snapshot() async throws(StatusError) -> AtomicRecordSnapshot

    /// Replaces the record with the result of `change`, which no other process does at the same time. Durable when this returns.
    ///
    /// - Parameter change: Receives the current bytes, or `nil` if the record doesn't exist, and returns the new ones, or `nil` to
    ///   keep the record unchanged.
    func update(
        _ change: @escaping @Sendable ([UInt8]?) throws(StatusError) -> [UInt8]?
    ) async throws(StatusError) -> AtomicRecordSnapshot
}

/// The version of an ``AtomicRecord``. Two versions of a record are equal only if their contents are.
package enum AtomicRecordVersion: Hashable, Sendable {
    /// That of a file, which each replacement makes anew.
    case file(FileIdentity)
    /// The number of changes.
    case number(Int64)
}

/// The contents of an ``AtomicRecord`` at a point in time.
package struct AtomicRecordSnapshot: Sendable {
    /// The contents; `nil` if the record doesn't exist.
    package let bytes: [UInt8]?
    /// The version; `nil` if the record doesn't exist.
    package let version: AtomicRecordVersion?
    /// A number that is greater than that of every snapshot of the record that this process took before.
    package let number: Int

    /// Creates a snapshot.
    package init(bytes: [UInt8]?, version: AtomicRecordVersion?, number: Int) {
        self.bytes = bytes
        self.version = version
        self.number = number
    }
}
