/// A number as its literal means it.
public enum JSONNumber: Sendable, Hashable {
    /// A literal without fraction and exponent; `-0` is 0.
    case integer(Int64)
    /// A literal with a fraction or exponent, rounded to the nearest double; keeps the sign of `-0.0`.
    case double(Double)
    /// A literal beyond the 64-bit integers or the finite doubles.
    case outOfRange
}

extension JSONNumber {
    /// Reads an integer literal that the scanner has found valid: an optional minus and digits.
    init(integerLiteral literal: UnsafeBufferPointer<UInt8>) {
        let isNegative = literal[0] == UInt8(ascii: "-")
        // Counts downwards, for the negative integers reach one further.
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

    /// Reads a literal with a fraction or exponent that the scanner has found valid.
    init(doubleLiteral literal: UnsafeBufferPointer<UInt8>) {
        // Swift's parser accepts all of JSON's grammar, and in no locale anything else for it.
        guard let value = Double(String(decoding: literal, as: UTF8.self)), value.isFinite else {
            self = .outOfRange
            return
        }
        self = .double(value)
    }
}
