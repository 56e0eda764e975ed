internal import StrictJSON

/// Writes values and names as bytes that compare as they do: unsigned, byte by byte, the shorter first on a common prefix.
///
/// ```
/// null       10
/// boolean    20 and 00 or 01
/// NaN        30
/// number     31, the largest double that is not above it (8 bytes), and from 2^53 on, either way, what is missing
///            to the number (2 bytes)
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
/// Of a string or bytes value only the ``DocumentLimits/queriedValueBytes`` that queries see are written.
///
/// A double has its sign bit turned when it is positive, and all of its bits when it is negative; -0.0 is written as 0.0. A whole
/// number has its sign bit turned. All have their highest byte first. A text ends with 00, its bytes 00 and 01 are 01 01 and
/// 01 02. A path segment is 01 and the number of a numeric ID, or 02 and the text of any other: so numeric IDs come first.
///
/// So no encoding is the beginning of another, and the values of a type, NaN apart from the numbers, are a contiguous range.
package struct KeyEncoder {
    /// The version of the encoding, for those who store it.
    package static let version = 2

    /// What has been written.
    package private(set) var bytes: [UInt8] = []
    /// Where writing may stop, because what follows is cut off.
    private var end = Self.noEnd
    private static let noEnd = Int.max - 1

    /// Begins with nothing.
    package init() {}

    /// Forgets what has been written, and keeps the memory.
    package mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Writes a value, cut off behind ``ValueKey/maximumBytes`` and one more.
    package mutating func append(_ value: Value) {
        let start = bytes.count
        end = start + ValueKey.maximumBytes
        write(value)
        end = Self.noEnd
        let excess = bytes.count - start - (ValueKey.maximumBytes + 1)
        if excess > 0 { bytes.removeLast(excess) }
    }

    /// Writes a document's name in its collection.
    package mutating func append(_ id: DocumentID) {
        write(segment: id.key.utf8[...])
    }

    /// Writes a document's whole path: in the order of paths, and with what is below another document right behind it.
    package mutating func append(_ path: DocumentPath) {
        for segment in path.pathSegments { write(segment: segment) }
    }

    /// Writes a collection's whole path: what all documents in it begin with, and those below them.
    package mutating func append(_ path: CollectionPath) {
        for segment in PathSegments(path.text) { write(segment: segment) }
    }
}

// MARK: - Values

extension KeyEncoder {
    private mutating func write(_ value: Value) {
        // Beyond this everything is cut off.
        guard bytes.count <= end else { return }
        bytes.append(ValueBracket(of: value).firstByte)
        switch value {
        case .null: break
        case .boolean(let value): bytes.append(value ? 1 : 0)
        case .integer(let value): write(number: value)
        case .double(let value): if !value.isNaN { write(number: value) }
        case .timestamp(let value): write(bigEndian: value.microseconds.sortable)
        case .string(let value): write(text: value.utf8.prefix(DocumentLimits.queriedValueBytes))
        case .bytes(let value): write(text: value.prefix(DocumentLimits.queriedValueBytes))
        case .reference(let value): write(value)
        case .geoPoint(let value):
            write(bigEndian: value.latitude.sortable)
            write(bigEndian: value.longitude.sortable)
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
        for element in vector where bytes.count <= end { write(bigEndian: element.isNaN ? 0 : element.sortable) }
    }

    private mutating func write(number: Int64) {
        var double = Double(number)
        // Rounded to the nearest, it may be above the number; 2^63 itself is no Int64.
        if double >= 0x1p63 || Int64(double) > number { double = double.nextDown }
        write(bigEndian: double.sortable)
        if double.magnitude >= Self.firstInexact { write(bigEndian: UInt16(number - Int64(double))) }
    }

    private mutating func write(number: Double) {
        write(bigEndian: number.sortable)
        if number.magnitude >= Self.firstInexact { write(bigEndian: UInt16(0)) }
    }

    /// From here on not every whole number is a double. Those below 2^63 are at most 1,024 apart.
    private static let firstInexact = 0x1p53
}

// MARK: - Parts

extension KeyEncoder {
    private mutating func write(segment: Substring.UTF8View) {
        if let number = Identifier.number(of: segment) {
            bytes.append(NameKey.numberMark)
            write(bigEndian: number.sortable)
        } else {
            bytes.append(NameKey.textMark)
            write(text: segment)
        }
    }

    private mutating func write(text: some Collection<UInt8>) {
        // What is cut off behind the key's end need not be written.
        let text = text.prefix(min(text.count, max(0, end - bytes.count) + 1))
        let isPlain = text.withContiguousStorageIfAvailable { text in
            guard text.allSatisfy({ $0 > 1 }) else { return false }
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
    /// The number as bits that compare as it does.
    fileprivate var sortable: UInt64 { UInt64(bitPattern: self) ^ (1 << 63) }
}

extension Double {
    /// The number, which is not NaN, as bits that compare as it does.
    fileprivate var sortable: UInt64 {
        // Adding zero makes 0.0 of -0.0.
        let bits = (self + 0).bitPattern
        return bits >> 63 == 0 ? bits | (1 << 63) : ~bits
    }
}

extension GeoPoint {
    /// Reads the key of a geo point back, -0.0 as 0.0; nil when it is another value's.
    package init?(valueKey bytes: some Collection<UInt8>) {
        guard bytes.count == 17, bytes.first == ValueBracket.geoPoint.firstByte else { return nil }
        let numbers = [bytes.dropFirst().prefix(8), bytes.suffix(8)].map { bytes in
            let bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
            return Double(bitPattern: bits >> 63 == 1 ? bits ^ (1 << 63) : ~bits)
        }
        try? self.init(validatingLatitude: numbers[0], longitude: numbers[1])
    }
}
