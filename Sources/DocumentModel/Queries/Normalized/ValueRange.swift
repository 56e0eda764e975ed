/// A range of values of one type, excluding NaN.
package struct ValueRange: Hashable, Sendable {
    /// The lower bound; `nil` for the first value of the upper bound's type.
    package private(set) var lower: Bound?
    /// The upper bound; `nil` for the last value of the lower bound's type.
    package private(set) var upper: Bound?
    private let typeRank: UInt8

    /// A bound of a range.
    package struct Bound: Hashable, Sendable {
        /// The value at the bound.
        package let value: Value
        /// True if the range includes the value.
        package let isInclusive: Bool
    }

    /// Creates the range of the values greater than (or equal to) a value.
    init(from value: Value, isInclusive: Bool) {
        lower = Bound(value: value, isInclusive: isInclusive)
        typeRank = value.typeRank
    }

    /// Creates the range of the values less than (or equal to) a value.
    init(upTo value: Value, isInclusive: Bool) {
        // NaN sorts before all other numbers.
        lower = value.isNumber ? Bound(value: .double(.nan), isInclusive: false) : nil
        upper = Bound(value: value, isInclusive: isInclusive)
        typeRank = value.typeRank
    }

    /// Returns whether a value is in the range.
    package func contains(_ value: Value) -> Bool {
        guard value.typeRank == typeRank else { return false }
        return lower?.admits(value, on: .greater) != false && upper?.admits(value, on: .less) != false
    }

    /// Returns the intersection of both ranges, or `nil` if it is empty.
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
    /// Returns whether a value is on the given side of the bound, or at an inclusive bound.
    fileprivate func admits(_ value: Value, on side: Comparison) -> Bool {
        let comparison = value.comparedInQueries(to: self.value)
        return comparison == side || (comparison == .equal && isInclusive)
    }

    /// Returns whether this bound excludes more values on the given side than another one.
    fileprivate func isTighter(than other: Self, on side: Comparison) -> Bool {
        let comparison = value.comparedInQueries(to: other.value)
        return comparison == side || (comparison == .equal && !isInclusive)
    }
}
