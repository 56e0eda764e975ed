internal import UTF8Text

/// An encoder of values and names as order-preserving keys: their unsigned byte order is the order of the values.
///
/// ```
/// null       10
/// boolean    20 and 00 or 01
/// NaN        30
/// number     31, the largest double <= the number (8 bytes); if its magnitude is at least 2^53, also the difference
///            (2 bytes)
/// timestamp  40, microseconds (8 bytes)
/// string     50, text
/// bytes      60, text
/// reference  70, the segments of the path, 00
/// geo point  80, latitude and longitude as doubles
/// array      90, the elements, 00
/// vector     a0, the number of elements (4 bytes), the elements as doubles, NaN as zeros
/// map        b0, for each member 01, its name as text, its value; 00
/// ```
///
/// Strings and bytes values are truncated to ``DocumentLimits/indexedValueBytes``, as in queries.
///
/// Doubles are encoded with the sign bit flipped if positive and all bits flipped if negative; -0.0 is encoded as 0.0.
/// Integers are encoded with the sign bit flipped. All are big-endian. Text ends with 00; its bytes 00 and 01 are escaped as
/// 01 01 and 01 02. A path segment is 01 and the number of a numeric ID, or 02 and the text of any other ID, so numeric IDs
/// sort first.
///
/// No encoding is a prefix of another, and the values of a type (with NaN separate from the other numbers) are a contiguous
/// range.
package struct KeyEncoder {
    /// The version of the encoding, stored with persisted keys.
    package static let version = 2

    /// The bytes encoded so far.
    package private(set) var bytes: [UInt8] = []
    /// The position from which output is truncated, so that encoding may stop there.
    private var end = Self.noEnd
    private static let noEnd = Int.max - 1

    /// Creates an empty encoder.
    package init() {}

    /// Removes all bytes, keeping the allocated capacity.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends a value, truncated to ``ValueKey/maximumBytes`` + 1 bytes.
    package mutating func append(_ value: Value) {
        let start = bytes.count
        end = start + ValueKey.maximumBytes
        write(value)
        end = Self.noEnd
        let excess = bytes.count - start - (ValueKey.maximumBytes + 1)
        if excess > 0 { bytes.removeLast(excess) }
    }

    /// Appends a document ID.
    package mutating func append(_ id: DocumentPath.ID) {
        write(segment: id.key.utf8[...])
    }

    /// Appends a document path. Keys sort in path order, with the descendants of a document directly after it.
    package mutating func append(_ path: DocumentPath) {
        for segment in path.pathSegments { write(segment: segment) }
    }

    /// Appends a collection path: the common key prefix of the documents in the collection and their descendants.
    package mutating func append(_ path: CollectionPath) {
        for segment in PathSegmentSequence(path.text) { write(segment: segment) }
    }
}

extension KeyEncoder {
    private mutating func write(_ value: Value) {
        // Everything beyond this is truncated.
        guard bytes.count <= end else { return }
        bytes.append(TypeBracket(of: value).firstByte)
        switch value {
        case .null: break
        case .boolean(let value): bytes.append(value ? 1 : 0)
        case .integer(let value): write(number: value)
        case .double(let value): if !value.isNaN { write(number: value) }
        case .timestamp(let value): write(bigEndian: value.microseconds.orderedBits)
        case .string(let value): write(text: value.utf8.prefix(DocumentLimits.indexedValueBytes))
        case .bytes(let value): write(text: value.prefix(DocumentLimits.indexedValueBytes))
        case .reference(let value): write(value)
        case .geoPoint(let value):
            write(bigEndian: value.latitude.orderedBits)
            write(bigEndian: value.longitude.orderedBits)
        case .array(let value): write(value)
        case .vector(let value): write(vector: value)
        case .map(let value): write(value)
        }
    }

    private mutating func write(_ path: DocumentPath) {
        append(path)
        bytes.append(0)
    }

    private mutating func write(_ elements: [Value]) {
        for element in elements where bytes.count <= end { write(element) }
        bytes.append(0)
    }

    private mutating func write(_ map: MapValue) {
        for (key, value) in map where bytes.count <= end {
            bytes.append(1)
            write(text: key.utf8)
            write(value)
        }
        bytes.append(0)
    }

    private mutating func write(vector: [Double]) {
        write(bigEndian: UInt32(vector.count))
        for element in vector where bytes.count <= end { write(bigEndian: element.isNaN ? 0 : element.orderedBits) }
    }

    private mutating func write(number: Int64) {
        var double = Double(number)
        // Rounding to nearest may have gone above the number; 2^63 itself is not an Int64.
        if double >= 0x1p63 || Int64(double) > number { double = double.nextDown }
        write(bigEndian: double.orderedBits)
        if double.magnitude >= Self.firstInexact { write(bigEndian: UInt16(number - Int64(double))) }
    }

    private mutating func write(number: Double) {
        write(bigEndian: number.orderedBits)
        if number.magnitude >= Self.firstInexact { write(bigEndian: UInt16(0)) }
    }

    /// The magnitude from which not every integer is a double. Doubles below 2^63 are at most 1,024 apart.
    private static let firstInexact = 0x1p53
}

extension KeyEncoder {
    private mutating func write(segment: Substring.UTF8View) {
        if let number = Identifier.number(of: segment) {
            bytes.append(NameKey.numericTag)
            write(bigEndian: number.orderedBits)
        } else {
            bytes.append(NameKey.textTag)
            write(text: segment)
        }
    }

    private mutating func write(text: some Collection<UInt8>) {
        // Bytes beyond the truncation limit need not be written.
        let text = text.prefix(min(text.count, max(0, end - bytes.count) + 1))
        let isPlain = text.withContiguousStorageIfAvailable { text in
            // Without an early exit, so that it is vectorized: nearly all text is plain.
            guard text.reduce(.max, min) > 1 else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isPlain != true {
            for byte in text {
                if byte > 1 {
                    bytes.append(byte)
                } else {
                    bytes.append(1)
                    bytes.append(byte + 1)
                }
            }
        }
        bytes.append(0)
    }

    private mutating func write(bigEndian number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}

extension Int64 {
    /// The number as an order-preserving bit pattern.
    fileprivate var orderedBits: UInt64 { UInt64(bitPattern: self) ^ (1 << 63) }
}

extension Double {
    /// The number, which is not NaN, as an order-preserving bit pattern.
    fileprivate var orderedBits: UInt64 {
        // Adding zero turns -0.0 into 0.0.
        let bits = (self + 0).bitPattern
        return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
    }
}

extension Value {
    /// Decodes the key of a number, with -0.0 as 0.0, or returns `nil` for any other key.
    ///
    /// - Parameter isDouble: Whether the number is a double; its key does not tell.
    package init?(numberKey bytes: UnsafeRawBufferPointer, isDouble: Bool) {
        switch (bytes.first, bytes.count) {
        case (TypeBracket.notANumber.firstByte, 1):
            self = .double(.nan)
        case (TypeBracket.number.firstByte, 9), (TypeBracket.number.firstByte, 11):
            let bits = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
            let double = Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
            if isDouble {
                self = .double(double)
                return
            }
            let difference = bytes.count == 9 ? 0 : UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt16.self))
            guard let whole = Int64(exactly: double) else { return nil }
            let (integer, overflows) = whole.addingReportingOverflow(Int64(difference))
            guard !overflows else { return nil }
            self = .integer(integer)
        default:
            return nil
        }
    }
}

extension GeoPoint {
    /// Decodes the key of a geo point, with -0.0 as 0.0, or returns `nil` for any other key.
    package init?(valueKey bytes: some Collection<UInt8>) {
        guard bytes.count == 17, bytes.first == TypeBracket.geoPoint.firstByte else { return nil }
        let numbers = [bytes.dropFirst().prefix(8), bytes.suffix(8)].map { bytes in
            let bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
            return Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
        }
        try? self.init(validatingLatitude: numbers[0], longitude: numbers[1])
    }
}
