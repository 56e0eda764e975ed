import DocumentModel
import UTF8Text

/// Firestore's value order. Comparisons return a negative, zero or positive integer.
enum OracleOrder {
    static func rank(_ value: Value) -> Int {
        switch value {
        case .null: 1
        case .boolean: 2
        case .integer, .double: 3
        case .timestamp: 4
        case .string: 5
        case .bytes: 6
        case .reference: 7
        case .geoPoint: 8
        case .array: 9
        case .vector: 10
        case .map: 11
        }
    }

    static func compare(_ left: Value, _ right: Value) -> Int {
        guard rank(left) == rank(right) else { return sign(rank(left), rank(right)) }
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): return left == right ? 0 : right ? -1 : 1
        case (.timestamp(let left), .timestamp(let right)): return sign(left.microseconds, right.microseconds)
        case (.string(let left), .string(let right)): return bytes(compared(left.utf8), compared(right.utf8))
        case (.bytes(let left), .bytes(let right)): return bytes(compared(left), compared(right))
        case (.reference(let left), .reference(let right)): return each(left.segments, right.segments, id)
        case (.geoPoint(let left), .geoPoint(let right)):
            return left.latitude == right.latitude
                ? sign(left.longitude, right.longitude) : sign(left.latitude, right.latitude)
        case (.array(let left), .array(let right)): return each(left, right, compare)
        case (.vector(let left), .vector(let right)):
            return left.count == right.count
                ? each(left, right) { number(.double($0), .double($1)) } : sign(left.count, right.count)
        case (.map(let left), .map(let right)):
            return each(Array(left), Array(right)) { left, right in
                let keys = bytes(Array(left.key.utf8), Array(right.key.utf8))
                return keys == 0 ? compare(left.value, right.value) : keys
            }
        default: return number(left, right)
        }
    }

    static func compare(_ left: FieldPath, _ right: FieldPath) -> Int {
        each(left.segments, right.segments) { bytes(Array($0.utf8), Array($1.utf8)) }
    }

    /// Returns the bytes that queries compare.
    private static func compared(_ text: some Collection<UInt8>) -> [UInt8] { Array(text.prefix(1_500)) }

    private static func sign<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    private static func each<T>(_ left: [T], _ right: [T], _ compare: (T, T) -> Int) -> Int {
        for (left, right) in zip(left, right) {
            let result = compare(left, right)
            if result != 0 { return result }
        }
        return sign(left.count, right.count)
    }

    private static func bytes(_ left: [UInt8], _ right: [UInt8]) -> Int {
        each(left, right) { sign($0, $1) }
    }

    private static func id(_ left: UTF8Key, _ right: UTF8Key) -> Int {
        switch (numericID(left), numericID(right)) {
        case (let left?, let right?): sign(left, right)
        case (_?, nil): -1
        case (nil, _?): 1
        case (nil, nil): bytes(Array(left.utf8), Array(right.utf8))
        }
    }

    private static func numericID(_ id: UTF8Key) -> Int64? {
        let text = Array(id.utf8)
        guard text.starts(with: "__id".utf8), text.suffix(2).elementsEqual("__".utf8) else { return nil }
        return Int64(String(decoding: text.dropFirst(4).dropLast(2), as: UTF8.self))
    }

    private static func number(_ left: Value, _ right: Value) -> Int {
        let (first, second) = (double(left), double(right))
        if first.isNaN || second.isNaN { return sign(first.isNaN ? 0 : 1, second.isNaN ? 0 : 1) }
        // Rounding is monotonic, so unequal doubles decide. Otherwise both are integral, or neither is an integer.
        if first != second || first.isInfinite { return sign(first, second) }
        return sign(exact(left), exact(right))
    }

    private static func double(_ value: Value) -> Double {
        switch value {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: 0
        }
    }

    private static func exact(_ value: Value) -> Int128 {
        switch value {
        case .integer(let value): Int128(value)
        case .double(let value) where abs(value) < 0x1p100: Int128(value)
        default: 0
        }
    }
}
