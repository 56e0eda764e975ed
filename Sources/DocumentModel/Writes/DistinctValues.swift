/// Values of which no two are equal as Firestore compares (3 equals 3.0), for finding one among many.
///
/// Hashing follows "stored alike" and can't answer this; sorting does, so that a long array and a long list of operands
/// don't cost their product.
struct DistinctValues {
    private let sorted: [Value]

    init(_ values: [Value]) {
        var sorted: [Value] = []
        for value in values.sorted(by: { $0.compared(to: $1) == .less }) {
            if sorted.last?.isEqual(to: value) != true { sorted.append(value) }
        }
        self.sorted = sorted
    }

    var indices: Range<Int> { sorted.indices }

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

extension [Value] {
    /// The array with those of `values` at its end that equal no element yet, each once, in order.
    func appending(missingFrom values: [Value]) -> [Value] {
        let distinct = DistinctValues(values)
        var isPresent = distinct.indices.map { _ in false }
        for element in self {
            if let index = distinct.index(of: element) { isPresent[index] = true }
        }
        var result = self
        for value in values {
            guard let index = distinct.index(of: value), !isPresent[index] else { continue }
            isPresent[index] = true
            result.append(value)
        }
        return result
    }

    /// The array without the elements that equal one of `values`.
    func removing(allOf values: [Value]) -> [Value] {
        let distinct = DistinctValues(values)
        return filter { distinct.index(of: $0) == nil }
    }
}
