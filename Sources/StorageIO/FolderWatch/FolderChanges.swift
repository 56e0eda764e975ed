/// The changes to the entries of a watched folder, complete up to the time when they were asked for.
///
/// A program that has read an entry remembers the ``position`` of the changes that it had asked for before the read. Later
/// changes tell whether the entry may be different now.
package struct FolderChanges: Sendable {
    /// A point in the sequence of changes to one folder.
    package struct Position: Hashable, Sendable {
        /// The watch, which is never the same for two folders, nor for two watches of one folder.
        let watch: UInt64
        let sequence: UInt64
    }

    /// The position after these changes.
    package let position: Position
    /// The first position from which all changes are known.
    let completeSince: UInt64
    /// The position of the last change to each changed entry since then.
    let entries: [NameHash: UInt64]

    /// Returns whether an entry of the folder may have changed after a position of any folder. It did not if this returns `false`.
    ///
    /// - Parameter name: The name of the entry, computed only if other entries have changed.
    package func mayInclude(_ name: @autoclosure () -> String, after earlier: Position) -> Bool {
        guard earlier.watch == position.watch, earlier.sequence >= completeSince else { return true }
        guard !entries.isEmpty else { return false }
        guard let last = entries[NameHash(name().utf8)] else { return false }
        return last > earlier.sequence
    }
}

/// A hash of the name of a folder entry (FNV-1a). Two names with one hash only make an unchanged entry look changed.
struct NameHash: Hashable, Sendable {
    private let value: UInt64

    init(_ name: some Sequence<UInt8>) {
        var value: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in name { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
        self.value = value
    }
}
