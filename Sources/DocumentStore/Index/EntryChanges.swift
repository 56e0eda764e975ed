/// The entries that documents lose and get, sorted before they are carried out: neighbours in the B-tree are then changed one
/// after the other, and each of its pages once.
struct EntryChanges {
    private struct Change {
        let space: Int64
        /// The value's first bytes, which mostly decide.
        let prefix: UInt64
        let value: Range<Int>
        let name: Range<Int>
    }

    private var bytes: [UInt8] = []
    private var removals: [Change] = []
    private var additions: [Change] = []

    /// Takes in a name, for the entries of one document.
    mutating func add(name: [UInt8]) -> Range<Int> {
        let start = bytes.count
        bytes += name
        return start..<bytes.count
    }

    /// Takes in how a document's entries in some scopes change.
    ///
    /// - Parameters:
    ///   - removing: Whether those that are not among the new ones are removed.
    ///   - adding: Whether those that were not among the old ones are added.
    mutating func add(
        from old: IndexEntries,
        to new: IndexEntries,
        scopes: [(scope: Int64, name: Range<Int>)],
        removing: Bool = true,
        adding: Bool = true
    ) {
        var oldIndex = 0
        var newIndex = 0
        while oldIndex < old.entries.count || newIndex < new.entries.count {
            let order = Self.order(old, oldIndex, new, newIndex)
            if order < 0 {
                if removing { add(old.entries[oldIndex], of: old, scopes, to: \.removals) }
                oldIndex += 1
            } else if order > 0 {
                if adding { add(new.entries[newIndex], of: new, scopes, to: \.additions) }
                newIndex += 1
            } else {
                oldIndex += 1
                newIndex += 1
            }
        }
    }

    private static func order(_ old: IndexEntries, _ oldIndex: Int, _ new: IndexEntries, _ newIndex: Int) -> Int {
        guard oldIndex < old.entries.count else { return 1 }
        guard newIndex < new.entries.count else { return -1 }
        let (left, right) = (old.entries[oldIndex], new.entries[newIndex])
        guard left.slot == right.slot else { return left.slot < right.slot ? -1 : 1 }
        return old.bytes.withUnsafeBytes { old in
            new.bytes.withUnsafeBytes { new in
                UnsafeRawBufferPointer(rebasing: old[left.value]).compare(UnsafeRawBufferPointer(rebasing: new[right.value]))
            }
        }
    }

    private mutating func add(
        _ entry: IndexEntries.Entry,
        of entries: IndexEntries,
        _ scopes: [(scope: Int64, name: Range<Int>)],
        to list: WritableKeyPath<Self, [Change]>
    ) {
        let start = bytes.count
        bytes += entries.bytes[entry.value]
        let prefix = entries.bytes[entry.value].prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        let shift = UInt64(8 * (8 - min(8, entry.value.count)))
        for (scope, name) in scopes {
            self[keyPath: list].append(
                Change(
                    space: IndexSpace(scope: scope, slot: entry.slot).number,
                    prefix: prefix << shift,
                    value: start..<bytes.count,
                    name: name
                )
            )
        }
    }

    /// Carries everything out, in order, what is removed first.
    mutating func run(
        remove: (_ space: Int64, _ value: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws -> Void,
        add: (_ space: Int64, _ value: UnsafeRawBufferPointer, _ name: UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try bytes.withUnsafeBytes { bytes in
            try Self.run(&removals, bytes, remove)
            try Self.run(&additions, bytes, add)
        }
        bytes.removeAll(keepingCapacity: bytes.count < Self.keptBytes)
    }

    private static func run(
        _ changes: inout [Change],
        _ bytes: UnsafeRawBufferPointer,
        _ body: (Int64, UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        changes.sort { left, right in
            if left.space != right.space { return left.space < right.space }
            if left.prefix != right.prefix { return left.prefix < right.prefix }
            let values = bytes.compare(left.value, right.value)
            return values == 0 ? bytes.compare(left.name, right.name) < 0 : values < 0
        }
        for change in changes {
            try body(
                change.space,
                UnsafeRawBufferPointer(rebasing: bytes[change.value]),
                UnsafeRawBufferPointer(rebasing: bytes[change.name])
            )
        }
        changes.removeAll(keepingCapacity: changes.count < keptBytes / 64)
    }

    private static let keptBytes = 16 << 20
}
