/// An accumulator of integers and doubles: exact for integers, compensated for doubles (Neumaier), with NaNs and
/// infinities kept separately.
///
/// Integer sums are exact even if they exceed 64 bits along the way. The order of the numbers affects only the last bits of a sum
/// of doubles, and whether it overflows along the way.
struct NumberSum: Sendable {
    /// The number of numbers added.
    private(set) var count = 0
    /// The sum of the integers. 128 bits cannot overflow in practice.
    private var integers: Int128 = 0
    private var hasDoubles = false
    private var finite = 0.0
    /// The compensation: the rounding error of `finite`.
    private var compensation = 0.0
    /// The sum of all NaNs and infinities, which determines the result if there are any.
    private var special = 0.0

    /// Adds a value, if it is a number.
    mutating func add(_ value: Value) {
        switch value {
        case .integer(let value):
            integers += Int128(value)
        case .double(let value):
            hasDoubles = true
            if value.isFinite { add(finite: value) } else { special += value }
        default:
            return
        }
        count += 1
    }

    private mutating func add(finite value: Double) {
        let sum = finite + value
        if sum.isFinite {
            compensation += abs(finite) >= abs(value) ? (finite - sum) + value : (value - sum) + finite
        }
        finite = sum
    }

    /// The result of ``Aggregation/Operation/sum(_:)``.
    var sum: Value {
        if !hasDoubles, let integer = Int64(exactly: integers) { return .integer(integer) }
        return .double(total)
    }

    /// The result of ``Aggregation/Operation/average(_:)``.
    var average: Value {
        count == 0 ? .null : .double(total / Double(count))
    }

    private var total: Double {
        guard special == 0 else { return special }
        // In two parts, so that large integers and doubles cancel exactly.
        let whole = Double(integers)
        var all = self
        all.add(finite: whole)
        all.add(finite: Double(integers - Int128(whole)))
        return all.finite.isFinite ? all.finite + all.compensation : all.finite
    }
}
