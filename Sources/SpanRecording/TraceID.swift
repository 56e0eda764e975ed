/// The ID of a trace: 16 bytes that are not all zero, written as 32 hexadecimal digits in lower case.
package struct TraceID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// - Returns: `nil` for zero, which is no ID.
    init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// Creates a random ID.
    package init() {
        (high, low) = (.random(in: .min ... .max), .random(in: 1 ... .max))
    }

    package var description: String { high.hexadecimalDigits + low.hexadecimalDigits }
}

/// The ID of a span: 8 bytes that are not all zero, written as 16 hexadecimal digits in lower case.
package struct SpanID: Hashable, Sendable, CustomStringConvertible {
    private let value: UInt64

    /// - Returns: `nil` for zero, which is no ID.
    init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// Creates a random ID.
    package init() {
        value = .random(in: 1 ... .max)
    }

    package var description: String { value.hexadecimalDigits }
}

extension UInt64 {
    /// Parses hexadecimal digits in lower case only.
    init?(lowercaseHexadecimal digits: some Sequence<UInt8>) {
        self = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): self = self << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): self = self << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
    }

    /// 16 hexadecimal digits.
    fileprivate var hexadecimalDigits: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
