internal import Synchronization

/// A 64-bit value that any thread changes and reads without waiting.
///
/// Its changes are relaxed: a reader sees each of them soon, but in no order with those of other cells.
final class AtomicCell: Sendable {
    private let bits: Atomic<UInt64>

    init() {
        bits = Atomic(0)
    }

    /// The value as an unsigned integer, which wraps around.
    var integer: UInt64 { bits.load(ordering: .relaxed) }

    func add(_ amount: UInt64) {
        bits.wrappingAdd(amount, ordering: .relaxed)
    }

    /// The value as a floating-point number, for a cell that is never used as an integer.
    var double: Double { Double(bitPattern: integer) }

    func store(_ value: Double) {
        bits.store(value.bitPattern, ordering: .relaxed)
    }

    func accumulate(_ amount: Double) {
        var current = integer
        while true {
            let next = (Double(bitPattern: current) + amount).bitPattern
            let (isExchanged, original) = bits.weakCompareExchange(expected: current, desired: next, ordering: .relaxed)
            if isExchanged { return }
            current = original
        }
    }
}
