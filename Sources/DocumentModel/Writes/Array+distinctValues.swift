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
        return filter { !distinct.contains($0) }
    }
}
