/// The entries that documents lose and get, sorted before they are carried out: neighbours in the B-tree are then changed one
/// after the other, and each of its pages once.
struct EntryChanges {
    fileprivate struct Change {
        let space: Int64
        /// The value's first bytes, which mostly decide.
        let prefix: UInt64
        let value: Range<UInt32>
        let name: Range<UInt32>
        let isAddition: Bool
        /// Of changes of the same entry the last one counts.
        let order: UInt32
    }

    private var bytes: [UInt8] = []
    private var changes: [Change] = []

    /// About how much memory they take.
    var byteCount: Int { bytes.count + changes.count * MemoryLayout<Change>.stride }

    /// Whether there are none.
    var isEmpty: Bool { changes.isEmpty }

    /// A place in what was taken in.
    typealias Place = Range<UInt32>

    /// Takes in a name, for the entries of one document.
    mutating func add(name: [UInt8]) -> Place {
        let start = UInt32(bytes.count)
        bytes += name
        return start..<UInt32(bytes.count)
    }

    /// Takes in how a document's entries in some scopes change.
    ///
    /// - Parameters:
    ///   - removing: Whether those that are not among the new ones are removed.
    ///   - adding: Whether those that were not among the old ones are added.
    mutating func add(
        from old: IndexEntries,
        to new: IndexEntries,
        scopes: [(scope: Int64, name: Place)],
        removing: Bool = true,
        adding: Bool = true
    ) {
        let removals = removing ? add(values: old) : 0
        let additions = adding ? add(values: new) : 0
        var oldIndex = 0
        var newIndex = 0
        while oldIndex < old.entries.count || newIndex < new.entries.count {
            let order = Self.order(old, oldIndex, new, newIndex)
            if order < 0 {
                if removing { add(old.entries[oldIndex], at: removals, scopes, isAddition: false) }
                oldIndex += 1
            } else if order > 0 {
                if adding { add(new.entries[newIndex], at: additions, scopes, isAddition: true) }
                newIndex += 1
            } else {
                oldIndex += 1
                newIndex += 1
            }
        }
    }

    /// Takes in the values of entries, all at once; gives where they begin.
    private mutating func add(values entries: IndexEntries) -> Int {
        let start = bytes.count
        bytes += entries.bytes
        return start
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
        at start: Int,
        _ scopes: [(scope: Int64, name: Place)],
        isAddition: Bool
    ) {
        let value = start + entry.value.lowerBound..<start + entry.value.upperBound
        let prefix = bytes.withUnsafeBytes { EntryChange.prefix(of: UnsafeRawBufferPointer(rebasing: $0[value])) }
        for (scope, name) in scopes {
            changes.append(
                Change(
                    space: IndexSpace(scope: scope, slot: entry.slot).number,
                    prefix: prefix,
                    value: UInt32(value.lowerBound)..<UInt32(value.upperBound),
                    name: name,
                    isAddition: isAddition,
                    order: UInt32(changes.count)
                )
            )
        }
    }

    /// Gives all changes in the order of the entries, each entry's last one, and forgets them.
    mutating func drain<Failure: Error>(_ body: (EntryChange) throws(Failure) -> Void) throws(Failure) {
        var result: Result<Void, Failure> = .success(())
        bytes.withUnsafeBytes { bytes in
            changes.sort { left, right in
                let order = left.change(in: bytes).compare(right.change(in: bytes))
                return order == 0 ? left.order < right.order : order < 0
            }
            do throws(Failure) {
                for index in changes.indices {
                    let change = changes[index].change(in: bytes)
                    if index + 1 < changes.count, changes[index + 1].change(in: bytes).compare(change) == 0 { continue }
                    try body(change)
                }
            } catch {
                result = .failure(error)
            }
        }
        bytes.removeAll(keepingCapacity: bytes.count < Self.keptBytes)
        changes.removeAll(keepingCapacity: changes.count < Self.keptBytes / MemoryLayout<Change>.stride)
        try result.get()
    }

    private static let keptBytes = 16 << 20
}

extension EntryChanges.Change {
    @inline(__always)
    fileprivate func change(in bytes: UnsafeRawBufferPointer) -> EntryChange {
        EntryChange(
            space: space,
            prefix: prefix,
            value: UnsafeRawBufferPointer(rebasing: bytes[Int(value.lowerBound)..<Int(value.upperBound)]),
            name: UnsafeRawBufferPointer(rebasing: bytes[Int(name.lowerBound)..<Int(name.upperBound)]),
            isAddition: isAddition
        )
    }
}
