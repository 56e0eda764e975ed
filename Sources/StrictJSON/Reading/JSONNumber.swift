/// The value of a JSON number literal.
public enum JSONNumber: Sendable, Hashable {
    /// A literal without a fraction or exponent; `-0` is 0.
    case integer(Int64)
    /// A literal with a fraction or exponent, rounded to the nearest double. The sign of `-0.0` is preserved.
    case double(Double)
    /// A literal outside the range of 64-bit integers or finite doubles.
    case outOfRange
}

extension JSONNumber {
    /// Parses a validated integer literal: digits with an optional minus sign.
    init(integerLiteral literal: UnsafeBufferPointer<UInt8>) {
        let isNegative = literal[0] == UInt8(ascii: "-")
        // Accumulates negative values: their range is larger by one.
        var value: Int64 = 0
        for digit in literal.dropFirst(isNegative ? 1 : 0) {
            let (shifted, overflowed) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowedAgain) = shifted.subtractingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !overflowed, !overflowedAgain else {
                self = .outOfRange
                return
            }
            value = sum
        }
        guard isNegative || value > .min else {
            self = .outOfRange
            return
        }
        self = .integer(isNegative ? value : -value)
    }

    /// Parses a validated literal with a fraction or exponent.
    init(doubleLiteral literal: UnsafeBufferPointer<UInt8>) {
        // Swift's parser accepts all of JSON's number grammar, independently of the locale.
        guard let value = Double(String(decoding: literal, as: UTF8.self)), value.isFinite else {
            self = .outOfRange
            return
        }
        self = .double(value)
    }
}
