package import DocumentModel
package import UTF8Text

/// The index entries of one document: the value of each field at any depth, and the distinct elements of each array.
///
/// Entries are sorted by slot and value, without duplicates. The encoded form of an entry in ``bytes`` is its slot
/// (``slot(field:kind:)``), then twice the length of its value, plus 1 for a field that is a double, both as LEB128
/// varints, and the value's ``ValueKey``. Documents with equal fields have equal bytes in the same index.
package struct IndexEntries {
    /// The kind of a field's entries.
    package enum Kind: Int64 {
        /// The field's value.
        case value = 0
        /// Each distinct element of an array value.
        case element = 1
    }

    /// An entry: its slot and the range of its value in ``IndexEntries/bytes``.
    package struct Entry {
        /// The slot.
        package let slot: Int64
        /// The range of the value's key.
        package let value: Range<Int>
        /// True if the entry is the value of a field that is a double.
        package var isDouble = false

        /// Creates an entry.
        package init(slot: Int64, value: Range<Int>, isDouble: Bool = false) {
            self.slot = slot
            self.value = value
            self.isDouble = isDouble
        }
    }

    /// All entries.
    package private(set) var entries: [Entry] = []
    /// The bytes that the entries refer to.
    package private(set) var bytes: [UInt8] = []
    /// The complete vectors of entries that were computed from a document; ``bytes`` may have only their first components.
    package private(set) var vectors: [(slot: Int64, vector: [Double])] = []

    /// True if some entry is a geo point, or a vector; few documents have any.
    private var hasGeoPoints = false
    private var hasVectors = false

    /// The slots of the fields that are vectors.
    package var vectorSlots: [Int64] { hasVectors ? fields(in: .vector).map(\.slot) : [] }

    /// The fields that are geo points.
    package var geoPoints: [(slot: Int64, point: GeoPoint)] {
        guard hasGeoPoints else { return [] }
        return fields(in: .geoPoint).compactMap { entry in GeoPoint(valueKey: bytes[entry.value]).map { (entry.slot, $0) } }
    }

    private func fields(in bracket: TypeBracket) -> [Entry] {
        entries.filter { entry in
            bytes[entry.value].first == bracket.firstByte && entry.slot & 1 == Kind.value.rawValue
        }
    }

    /// Creates an empty list.
    package init() {}

    /// Returns a slot: a field ID and a kind, packed into one integer.
    package static func slot(field: Int64, kind: Kind) -> Int64 { field << 1 | kind.rawValue }

    /// Returns the field ID of a slot.
    package static func field(ofSlot slot: Int64) -> Int64 { slot >> 1 }

    /// Sorts the entries of a document.
    package init(sorting entries: [Entry], _ bytes: [UInt8]) {
        self.bytes = bytes
        self.entries = bytes.withUnsafeBytes { bytes in
            entries.sorted { left, right in
                left.slot == right.slot ? bytes.compare(left.value, right.value) < 0 : left.slot < right.slot
            }
        }
        for entry in entries { noteType(ofFirstByte: bytes[entry.value].first) }
    }

    private mutating func noteType(ofFirstByte byte: UInt8?) {
        if byte == TypeBracket.geoPoint.firstByte { hasGeoPoints = true }
        if byte == TypeBracket.vector.firstByte { hasVectors = true }
    }
}

extension IndexEntries {
    /// Computes the entries of a document.
    ///
    /// - Parameters:
    ///   - encoder: A scratch buffer.
    ///   - fieldID: Returns the ID of a field in a parent map; the parent of a top-level field is 0.
    package init<Failure: Error>(
        _ fields: MapValue,
        _ encoder: inout KeyEncoder,
        fieldID: (UTF8Key, _ parent: Int64) throws(Failure) -> Int64
    ) throws(Failure) {
        encoder.removeAll()
        var found: [Entry] = []
        found.reserveCapacity(32)
        try Self.add(fields, under: 0, to: &found, &vectors, &encoder, fieldID)
        encoder.bytes.withUnsafeBytes { keys in
            found.sort { left, right in
                left.slot == right.slot ? keys.compare(left.value, right.value) < 0 : left.slot < right.slot
            }
            bytes.reserveCapacity(keys.count + 4 * found.count)
            entries.reserveCapacity(found.count)
            var last: Entry?
            for entry in found {
                if let last, last.slot == entry.slot, keys.compare(last.value, entry.value) == 0 { continue }
                last = entry
                append(slot: entry.slot, UnsafeRawBufferPointer(rebasing: keys[entry.value]), isDouble: entry.isDouble)
            }
        }
    }

    private static func add<Failure: Error>(
        _ fields: MapValue,
        under parent: Int64,
        to entries: inout [Entry],
        _ vectors: inout [(slot: Int64, vector: [Double])],
        _ encoder: inout KeyEncoder,
        _ fieldID: (UTF8Key, _ parent: Int64) throws(Failure) -> Int64
    ) throws(Failure) {
        for (name, value) in fields {
            let field = try fieldID(name, parent)
            let slot = Self.slot(field: field, kind: .value)
            add(value, slot: slot, isDouble: value.isDouble, to: &entries, &encoder)
            switch value {
            case .vector(let vector):
                vectors.append((slot, vector))
            case .map(let inner):
                try add(inner, under: field, to: &entries, &vectors, &encoder, fieldID)
            case .array(let elements):
                let slot = Self.slot(field: field, kind: .element)
                for element in elements { add(element, slot: slot, isDouble: false, to: &entries, &encoder) }
            default:
                break
            }
        }
    }

    private static func add(
        _ value: Value,
        slot: Int64,
        isDouble: Bool,
        to entries: inout [Entry],
        _ encoder: inout KeyEncoder
    ) {
        let start = encoder.bytes.count
        encoder.append(value)
        entries.append(Entry(slot: slot, value: start..<encoder.bytes.count, isDouble: isDouble))
    }

    private mutating func append(slot: Int64, _ value: UnsafeRawBufferPointer, isDouble: Bool) {
        bytes.append(varint: UInt64(slot))
        bytes.append(varint: UInt64(value.count) << 1 | (isDouble ? 1 : 0))
        let start = bytes.count
        bytes.append(contentsOf: value)
        entries.append(Entry(slot: slot, value: start..<bytes.count, isDouble: isDouble))
        noteType(ofFirstByte: value.first)
    }
}

extension IndexEntries {
    /// Decodes entries; `nil` when the bytes are invalid.
    package init?(bytes stored: UnsafeRawBufferPointer) {
        bytes = Array(stored)
        entries.reserveCapacity(32)
        var offset = 0
        while offset < stored.count {
            guard let slot = stored.varint(at: &offset), let length = stored.varint(at: &offset),
                length >> 1 <= UInt64(stored.count - offset)
            else { return nil }
            let end = offset + Int(length >> 1)
            entries.append(Entry(slot: Int64(slot), value: offset..<end, isDouble: length & 1 == 1))
            if offset < end { noteType(ofFirstByte: stored[offset]) }
            offset = end
        }
    }
}

extension IndexEntries {
    /// Calls closures with the entries of `old` that are not in `new`, and with those of `new` that are not in `old`. An entry whose
    /// value is a double in one of them only is passed to `added`.
    package static func forEachDifference(
        from old: IndexEntries,
        to new: IndexEntries,
        removed: (Entry) -> Void,
        added: (Entry) -> Void
    ) {
        old.bytes.withUnsafeBytes { oldBytes in
            new.bytes.withUnsafeBytes { newBytes in
                var (oldIndex, newIndex) = (0, 0)
                while oldIndex < old.entries.count || newIndex < new.entries.count {
                    guard oldIndex < old.entries.count else {
                        added(new.entries[newIndex])
                        newIndex += 1
                        continue
                    }
                    guard newIndex < new.entries.count else {
                        removed(old.entries[oldIndex])
                        oldIndex += 1
                        continue
                    }
                    let (left, right) = (old.entries[oldIndex], new.entries[newIndex])
                    let order =
                        left.slot == right.slot
                        ? UnsafeRawBufferPointer(rebasing: oldBytes[left.value])
                            .compare(UnsafeRawBufferPointer(rebasing: newBytes[right.value]))
                        : left.slot < right.slot ? -1 : 1
                    if order < 0 {
                        removed(left)
                        oldIndex += 1
                    } else if order > 0 {
                        added(right)
                        newIndex += 1
                    } else {
                        // The key of a number does not tell an integer from a double.
                        if left.isDouble != right.isDouble { added(right) }
                        oldIndex += 1
                        newIndex += 1
                    }
                }
            }
        }
    }
}

extension Value {
    fileprivate var isDouble: Bool {
        if case .double = self { true } else { false }
    }
}

extension [UInt8] {
    fileprivate mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension UnsafeRawBufferPointer {
    /// Decodes a LEB128 number and advances past it; `nil` if the bytes end, or the number is too long.
    fileprivate func varint(at offset: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 56, by: 7) {
            guard offset < count else { return nil }
            let byte = self[offset]
            offset += 1
            value |= UInt64(byte & 0x7f) << UInt64(shift)
            if byte < 0x80 { return value }
        }
        return nil
    }

    /// Compares two ranges of the bytes lexicographically.
    func compare(_ left: Range<Int>, _ right: Range<Int>) -> Int {
        UnsafeRawBufferPointer(rebasing: self[left]).compare(UnsafeRawBufferPointer(rebasing: self[right]))
    }
}
