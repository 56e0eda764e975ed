/// Values of which no two are equal as Firestore compares (3 equals 3.0), for finding one among many.
///
/// Hashing follows "stored alike" and can't answer this; sorting does, so that a long array and a long list of operands
/// don't cost their product.
package struct DistinctValues: Hashable, Sendable {
    /// The values in order.
    package let sorted: [Value]
    /// How many bytes of texts and bytes are compared.
    private let byteCount: Int

    /// - Parameter byteCount: How many bytes of texts and bytes are compared.
    init(_ values: [Value], seeing byteCount: Int = .max) {
        var sorted: [Value] = []
        for value in values.sorted(by: { $0.compared(to: $1, seeing: byteCount) == .less }) {
            if sorted.last?.compared(to: value, seeing: byteCount) != .equal { sorted.append(value) }
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
            switch sorted[middle].compared(to: value, seeing: byteCount) {
            case .less: low = middle + 1
            case .equal: return middle
            case .greater: high = middle
            }
        }
        return nil
    }
}
