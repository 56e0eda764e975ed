import DocumentModel
import UTF8Text

/// A reference implementation of Firestore's order: an order-preserving key.
///
/// It shares no code with ``Value/compared(to:)``. Numbers are encoded as sign, exponent and a 64-bit mantissa, which represents
/// every integer and double exactly. Strings are terminated.
struct OrderKey {
    private(set) var bytes: [UInt8] = []

    init(_ value: Value) {
        append(value)
    }

    private mutating func append(_ value: Value) {
        switch value {
        case .null:
            bytes.append(10)
        case .boolean(let value):
            bytes += [20, value ? 1 : 0]
        case .integer(let value):
            bytes.append(30)
            append(number: value)
        case .double(let value):
            bytes.append(30)
            append(number: value)
        case .timestamp(let value):
            bytes.append(40)
            append(bigEndian: UInt64(bitPattern: value.microseconds) ^ (1 << 63))
        case .string(let value):
            bytes.append(50)
            append(text: value.utf8)
        case .bytes(let value):
            bytes.append(60)
            append(text: value)
        case .reference(let value):
            bytes.append(70)
            append(path: value)
        case .geoPoint(let value):
            bytes.append(80)
            append(number: value.latitude)
            append(number: value.longitude)
        case .array(let value):
            bytes.append(90)
            for element in value { append(element) }
            bytes.append(0)
        case .vector(let value):
            bytes.append(100)
            append(bigEndian: UInt64(value.count))
            for element in value { append(number: element) }
        case .map(let value):
            bytes.append(110)
            for (key, value) in value {
                bytes.append(1)
                append(text: key.utf8)
                append(value)
            }
            bytes.append(0)
        }
    }

    private mutating func append(path: DocumentPath) {
        for segment in path.segments {
            let text = segment.string
            if text.utf8.starts(with: "__id".utf8), let number = Int64(text.dropFirst(4).dropLast(2)) {
                bytes.append(1)
                append(bigEndian: UInt64(bitPattern: number) ^ (1 << 63))
            } else {
                bytes.append(2)
                append(text: text.utf8)
            }
        }
        bytes.append(0)
    }

    private mutating func append(number: Int64) {
        guard number != 0 else { return bytes.append(3) }
        let leading = number.magnitude.leadingZeroBitCount
        append(isNegative: number < 0, exponent: 63 - leading, mantissa: number.magnitude << UInt64(leading))
    }

    private mutating func append(number: Double) {
        if number.isNaN {
            bytes.append(0)
        } else if number.isInfinite {
            bytes.append(number < 0 ? 1 : 5)
        } else if number.isZero {
            bytes.append(3)
        } else {
            append(
                isNegative: number < 0,
                exponent: Int(number.magnitude.exponent),
                mantissa: UInt64(number.magnitude.significand * 0x1p63)
            )
        }
    }

    private mutating func append(isNegative: Bool, exponent: Int, mantissa: UInt64) {
        bytes.append(isNegative ? 2 : 4)
        let flip: UInt64 = isNegative ? .max : 0
        append(bigEndian: UInt64(exponent + 2_000) ^ flip)
        append(bigEndian: mantissa ^ flip)
    }

    private mutating func append(text: some Sequence<UInt8>) {
        for byte in text { bytes += byte == 0 ? [0, 255] : [byte] }
        bytes += [0, 0]
    }

    private mutating func append(bigEndian number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
    }
}
