/// Values of which no two are equal as Firestore compares (3 equals 3.0), for finding one among many.
///
/// Hashing follows "stored alike" and can't answer this; sorting does, so that a long array and a long list of operands
/// don't cost their product.
package struct DistinctValues: Hashable, Sendable {
    /// The values in order.
    package let sorted: [Value]

    init(_ values: [Value]) {
        var sorted: [Value] = []
        for value in values.sorted(by: { $0.compared(to: $1) == .less }) {
            if sorted.last?.isEqual(to: value) != true { sorted.append(value) }
        }
        self.sorted = sorted
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
            switch sorted[middle].compared(to: value) {
            case .less: low = middle + 1
            case .equal: return middle
            case .greater: high = middle
            }
        }
        return nil
    }
}
