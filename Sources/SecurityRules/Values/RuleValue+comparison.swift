internal import UTF8Text

extension RuleValue {
    /// Returns whether the operator `==` of the language is true for concrete values: numbers compare by value, everything else
    /// and everything inside of lists, sets and maps by type and value.
    func isEqual(to other: RuleValue) -> Bool {
        switch (self, other) {
        case (.float(let left), .float(let right)): left == right
        case (.integer, .float), (.float, .integer): RuleValue.areOrdered(self, other, by: ==) ?? false
        default: self == other
        }
    }

    /// Returns the result of an order relation, or `nil` for types without an order and for values of different types.
    ///
    /// - Parameter relation: The relation, applied to -1, 0 or 1 for less, equal and greater, and to 0.
    static func areOrdered(_ left: RuleValue, _ right: RuleValue, by relation: (Int, Int) -> Bool) -> Bool? {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): relation(sign(left, right), 0)
        case (.float(let left), .float(let right)): unordered(left, right) ? false : relation(sign(left, right), 0)
        case (.integer(let left), .float(let right)): right.isNaN ? false : relation(exactSign(left, right), 0)
        case (.float(let left), .integer(let right)): left.isNaN ? false : relation(-exactSign(right, left), 0)
        case (.string(let left), .string(let right)): relation(sign(left, right), 0)
        case (.bytes(let left), .bytes(let right)): relation(sign(left, right), 0)
        case (.timestamp(let left), .timestamp(let right)): relation(sign(left, right), 0)
        case (.duration(let left), .duration(let right)): relation(sign(left, right), 0)
        default: nil
        }
    }

    private static func unordered(_ left: Double, _ right: Double) -> Bool { left.isNaN || right.isNaN }

    private static func sign<T: Comparable>(_ left: T, _ right: T) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    private static func sign(_ left: [UInt8], _ right: [UInt8]) -> Int {
        left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
    }

    /// Compares an integer and a number exactly. Converting the integer to a float would round beyond 2^53.
    private static func exactSign(_ integer: Int64, _ number: Double) -> Int {
        // ±2^63 are floats, so the integral part of any float between them converts both ways without loss.
        if number < -0x1p63 { return 1 }
        if number >= 0x1p63 { return -1 }
        let whole = Int64(number)
        return integer == whole ? sign(0, number - Double(whole)) : sign(integer, whole)
    }
}
