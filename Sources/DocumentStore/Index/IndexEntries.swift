internal import DocumentModel
internal import StrictJSON

/// The entries of one document: for each field at any depth its value, and where that is an array also its different elements.
///
/// They are kept in the order of slot and value, each once. Written into ``bytes`` an entry is its slot
/// (``IndexSpace/slot(field:kind:)``) and the length of its value, both as numbers of seven bits a byte, the lowest first, and
/// the value's ``ValueKey``. Documents with the same fields have the same bytes in the same index.
struct IndexEntries {
    /// An entry, and where its value is in the bytes.
    struct Entry {
        let slot: Int64
        let value: Range<Int>
    }

    /// All entries.
    private(set) var entries: [Entry] = []
    /// What the entries' places refer to.
    private(set) var bytes: [UInt8] = []

    /// No entries.
    init() {}

    /// Entries of a document, in any order.
    init(sorting entries: [Entry], _ bytes: [UInt8]) {
        self.bytes = bytes
        self.entries = bytes.withUnsafeBytes { bytes in
            entries.sorted { left, right in
                left.slot == right.slot ? bytes.compare(left.value, right.value) < 0 : left.slot < right.slot
            }
        }
    }
}

extension IndexEntries {
    /// Makes the entries of a document.
    ///
    /// - Parameters:
    ///   - encoder: Its memory is used.
    ///   - number: Gives the number of a field in the map of another one, or at the top for 0.
    init(_ fields: MapValue, _ encoder: inout KeyEncoder, number: (UTF8Key, _ parent: Int64) throws -> Int64) throws {
        encoder.removeAll()
        var found: [Entry] = []
        found.reserveCapacity(32)
        try Self.add(fields, under: 0, to: &found, &encoder, number)
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
                append(slot: entry.slot, UnsafeRawBufferPointer(rebasing: keys[entry.value]))
            }
        }
    }

    private static func add(
        _ fields: MapValue,
        under parent: Int64,
        to entries: inout [Entry],
        _ encoder: inout KeyEncoder,
        _ number: (UTF8Key, _ parent: Int64) throws -> Int64
    ) throws {
        for (name, value) in fields {
            let field = try number(name, parent)
            add(value, slot: IndexSpace.slot(field: field, kind: .value), to: &entries, &encoder)
            switch value {
            case .map(let inner):
                try add(inner, under: field, to: &entries, &encoder, number)
            case .array(let elements):
                let slot = IndexSpace.slot(field: field, kind: .element)
                for element in elements { add(element, slot: slot, to: &entries, &encoder) }
            default:
                break
            }
        }
    }

    private static func add(_ value: Value, slot: Int64, to entries: inout [Entry], _ encoder: inout KeyEncoder) {
        let start = encoder.bytes.count
        encoder.append(value)
        entries.append(Entry(slot: slot, value: start..<encoder.bytes.count))
    }

    private mutating func append(slot: Int64, _ value: UnsafeRawBufferPointer) {
        bytes.append(number: UInt64(slot))
        bytes.append(number: UInt64(value.count))
        let start = bytes.count
        bytes.append(contentsOf: value)
        entries.append(Entry(slot: slot, value: start..<bytes.count))
    }
}

extension IndexEntries {
    /// Reads entries back.
    init(bytes stored: UnsafeRawBufferPointer) throws(IndexFailure) {
        bytes = Array(stored)
        var offset = 0
        while offset < bytes.count {
            guard let slot = number(at: &offset), let count = number(at: &offset), count <= UInt64(bytes.count - offset) else {
                throw IndexFailure(damage: "what the index knows of a document is damaged")
            }
            entries.append(Entry(slot: Int64(slot), value: offset..<offset + Int(count)))
            offset += Int(count)
        }
    }

    private func number(at offset: inout Int) -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: 0, to: 56, by: 7) {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            number |= UInt64(byte & 0x7f) << UInt64(shift)
            if byte < 0x80 { return number }
        }
        return nil
    }
}

extension [UInt8] {
    fileprivate mutating func append(number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension UnsafeRawBufferPointer {
    /// Compares two ranges of the bytes as `memcmp` does, the shorter first on a common prefix.
    func compare(_ left: Range<Int>, _ right: Range<Int>) -> Int {
        UnsafeRawBufferPointer(rebasing: self[left]).compare(UnsafeRawBufferPointer(rebasing: self[right]))
    }
}
