internal import QueryEngine

/// A buffer of entry changes, sorted in index order before they are written, so that each page of the B-tree is modified once.
struct EntryChangeBuffer {
    fileprivate struct Change {
        let space: Int64
        /// The first eight bytes of the value; see ``EntryChange/prefix``.
        let prefix: UInt64
        let value: Range<UInt32>
        let name: Range<UInt32>
        let isAddition: Bool
        let isDouble: Bool
        /// The insertion order: the last change to an entry wins.
        let order: UInt32
    }

    private var bytes: [UInt8] = []
    private var changes: [Change] = []

    /// The approximate memory use.
    var byteCount: Int { bytes.count + changes.count * MemoryLayout<Change>.stride }

    /// True if the buffer is empty.
    var isEmpty: Bool { changes.isEmpty }

    /// A range of the buffered bytes.
    typealias ByteRange = Range<UInt32>

    /// The scopes in which a document's fields are indexed, with its name in each.
    typealias Scopes = [(scope: Int64, name: ByteRange)]

    /// Appends the name of a document, to be shared by its entries.
    mutating func append(_ names: IndexWriter.Names) -> Scopes {
        let (start, end) = (bytes.count, bytes.count + names.path.count)
        bytes += names.path
        let collection = (scope: names.scopes.collection, name: UInt32(start + names.idStart)..<UInt32(end))
        guard let group = names.scopes.group else { return [collection] }
        return [collection, (scope: group, name: UInt32(start)..<UInt32(end))]
    }

    /// Appends the difference between a document's old and new entries, for each of several scopes.
    ///
    /// - Parameters:
    ///   - removing: Whether to remove old entries that are not among the new ones.
    ///   - adding: Whether to add new entries that are not among the old ones.
    mutating func append(
        from old: IndexEntries,
        to new: IndexEntries,
        scopes: Scopes,
        removing: Bool = true,
        adding: Bool = true
    ) {
        let removalStart = removing ? append(values: old) : 0
        let additionStart = adding ? append(values: new) : 0
        IndexEntries.forEachDifference(from: old, to: new) { entry in
            if removing { append(entry, at: removalStart, scopes, isAddition: false) }
        } added: { entry in
            if adding { append(entry, at: additionStart, scopes, isAddition: true) }
        }
    }

    /// Appends the encoded entries, and returns their start in the buffer.
    private mutating func append(values entries: IndexEntries) -> Int {
        let start = bytes.count
        bytes += entries.bytes
        return start
    }

    private mutating func append(
        _ entry: IndexEntries.Entry,
        at start: Int,
        _ scopes: Scopes,
        isAddition: Bool
    ) {
        let value = start + entry.value.lowerBound..<start + entry.value.upperBound
        let prefix = bytes.withUnsafeBytes { EntryChange.prefix(of: UnsafeRawBufferPointer(rebasing: $0[value])) }
        for (scope, name) in scopes {
            changes.append(
                Change(
                    space: IndexSpace(scope: scope, slot: entry.slot).id,
                    prefix: prefix,
                    value: UInt32(value.lowerBound)..<UInt32(value.upperBound),
                    name: name,
                    isAddition: isAddition,
                    isDouble: entry.isDouble,
                    order: UInt32(changes.count)
                )
            )
        }
    }

    /// Calls `body` with the last change to each entry, in index order, and empties the buffer.
    mutating func drain<Failure: Error>(_ body: (EntryChange) throws(Failure) -> Void) throws(Failure) {
        var result: Result<Void, Failure> = .success(())
        bytes.withUnsafeBytes { bytes in
            changes.sort { left, right in
                let order = left.compare(right, in: bytes)
                return order == 0 ? left.order < right.order : order < 0
            }
            do throws(Failure) {
                for index in changes.indices {
                    if index + 1 < changes.count, changes[index].compare(changes[index + 1], in: bytes) == 0 { continue }
                    try body(changes[index].change(in: bytes))
                }
            } catch {
                result = .failure(error)
            }
        }
        bytes.removeAll(keepingCapacity: bytes.count < Self.maximumRetainedBytes)
        changes.removeAll(keepingCapacity: changes.count < Self.maximumRetainedBytes / MemoryLayout<Change>.stride)
        try result.get()
    }

    /// The maximum capacity that the buffer keeps when it is emptied.
    private static let maximumRetainedBytes = 16 << 20
}

extension EntryChangeBuffer.Change {
    /// Compares two entries in index order. The space and the prefix, which decide most comparisons, need none of the bytes.
    @inline(__always)
    fileprivate func compare(_ other: Self, in bytes: UnsafeRawBufferPointer) -> Int {
        if space != other.space { return space < other.space ? -1 : 1 }
        if prefix != other.prefix { return prefix < other.prefix ? -1 : 1 }
        return change(in: bytes).compare(other.change(in: bytes))
    }

    @inline(__always)
    fileprivate func change(in bytes: UnsafeRawBufferPointer) -> EntryChange {
        EntryChange(
            space: space,
            prefix: prefix,
            value: UnsafeRawBufferPointer(rebasing: bytes[Int(value.lowerBound)..<Int(value.upperBound)]),
            name: UnsafeRawBufferPointer(rebasing: bytes[Int(name.lowerBound)..<Int(name.upperBound)]),
            isAddition: isAddition,
            isDouble: isDouble
        )
    }
}
