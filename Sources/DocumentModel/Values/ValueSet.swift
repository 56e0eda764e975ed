/// A set of values that are distinct in Firestore's comparison (3 equals 3.0), with binary search.
///
/// Value hashing follows `==`, which distinguishes 3 from 3.0, so a hash set doesn't work. Sorting keeps the comparison of a
/// long array with a long list of operands from taking quadratic time.
package struct ValueSet: Hashable, Sendable {
    /// The values in ascending order.
    package let sorted: [Value]
    /// The number of leading bytes of strings and bytes values that are compared.
    private let byteCount: Int

    /// Creates a set without duplicates.
    ///
    /// - Parameter byteCount: The number of leading bytes of strings and bytes values to compare.
    init(_ values: [Value], truncatingAt byteCount: Int = .max) {
        var sorted: [Value] = []
        for value in values.sorted(by: { $0.compared(to: $1, truncatingAt: byteCount) == .less }) {
            if sorted.last?.compared(to: value, truncatingAt: byteCount) != .equal { sorted.append(value) }
        }
        self.sorted = sorted
        self.byteCount = byteCount
    }

    var indices: Range<Int> { sorted.indices }

    func contains(_ value: Value) -> Bool {
        index(of: value) != nil
    }

    func index(of value: Value) -> Int? {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            switch sorted[middle].compared(to: value, truncatingAt: byteCount) {
            case .less: low = middle + 1
            case .equal: return middle
            case .greater: high = middle
            }
        }
        return nil
    }
}
