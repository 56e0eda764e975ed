/// The values of one type between two bounds; never NaN.
package struct ValueRange: Hashable, Sendable {
    /// Where the range begins; with the first value of the upper bound's type when nil.
    package private(set) var lower: Bound?
    /// Where the range ends; with the last value of the lower bound's type when nil.
    package private(set) var upper: Bound?
    private let typeRank: UInt8

    /// An end of a range.
    package struct Bound: Hashable, Sendable {
        /// The value at the end.
        package let value: Value
        /// Whether the value itself is in the range.
        package let isInclusive: Bool
    }

    /// All from a value on.
    init(from value: Value, isInclusive: Bool) {
        lower = Bound(value: value, isInclusive: isInclusive)
        typeRank = value.typeRank
    }

    /// All up to a value.
    init(upTo value: Value, isInclusive: Bool) {
        // NaN comes before all numbers in the order of values.
        lower = value.isNumber ? Bound(value: .double(.nan), isInclusive: false) : nil
        upper = Bound(value: value, isInclusive: isInclusive)
        typeRank = value.typeRank
    }

    /// Whether a value is in the range.
    package func contains(_ value: Value) -> Bool {
        guard value.typeRank == typeRank else { return false }
        return lower?.admits(value, on: .greater) != false && upper?.admits(value, on: .less) != false
    }

    /// What both ranges have in common; nil when that is nothing.
    func intersection(_ other: ValueRange) -> ValueRange? {
        guard typeRank == other.typeRank else { return nil }
        var result = self
        if let bound = other.lower, lower.map({ bound.isTighter(than: $0, on: .greater) }) != false { result.lower = bound }
        if let bound = other.upper, upper.map({ bound.isTighter(than: $0, on: .less) }) != false { result.upper = bound }
        guard let lower = result.lower, let upper = result.upper else { return result }
        let isEmpty = !upper.admits(lower.value, on: .less) || !lower.admits(upper.value, on: .greater)
        return isEmpty ? nil : result
    }
}

extension ValueRange.Bound {
    /// Whether a value stands on the given side of the bound, or at it where that is allowed.
    fileprivate func admits(_ value: Value, on side: Comparison) -> Bool {
        let comparison = value.comparedInQueries(to: self.value)
        return comparison == side || (comparison == .equal && isInclusive)
    }

    /// Whether fewer values are on the given side of this bound than of another.
    fileprivate func isTighter(than other: Self, on side: Comparison) -> Bool {
        let comparison = value.comparedInQueries(to: other.value)
        return comparison == side || (comparison == .equal && !isInclusive)
    }
}
