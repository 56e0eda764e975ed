/// The sum of numbers of both kinds: integers exactly, doubles with little loss, the special ones apart.
///
/// What passes the range of 64 bits on the way and comes back is exact. The order of the numbers matters only to the last
/// bits of a sum of doubles, and to whether one passes the range of doubles on the way.
struct NumberSum: Sendable {
    /// How many numbers there are.
    private(set) var count = 0
    /// 128 bits hold the sum of more integers than there can be.
    private var integers: Int128 = 0
    private var hasDoubles = false
    private var finite = 0.0
    /// What rounding took from `finite` (Neumaier's summation).
    private var lost = 0.0
    /// The sum of all NaN and infinities: they alone decide once there is one.
    private var special = 0.0

    /// Adds a value if it is a number.
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
            lost += abs(finite) >= abs(value) ? (finite - sum) + value : (value - sum) + finite
        }
        finite = sum
    }

    /// The sum as ``Aggregation/Operation/sum(_:)`` gives it.
    var sum: Value {
        if !hasDoubles, let integer = Int64(exactly: integers) { return .integer(integer) }
        return .double(total)
    }

    /// The mean as ``Aggregation/Operation/average(_:)`` gives it.
    var average: Value {
        count == 0 ? .null : .double(total / Double(count))
    }

    private var total: Double {
        guard special == 0 else { return special }
        // In two parts, so that large integers and doubles that cancel each other leave what they should.
        let whole = Double(integers)
        var all = self
        all.add(finite: whole)
        all.add(finite: Double(integers - Int128(whole)))
        return all.finite.isFinite ? all.finite + all.lost : all.finite
    }
}
