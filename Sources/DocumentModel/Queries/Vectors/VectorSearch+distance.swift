extension VectorSearch {
    /// Returns a document's distance, or `nil` if it is not in the result.
    ///
    /// A document is excluded if the field has no vector of the same number of dimensions, if the distance is beyond the
    /// threshold, or if the distance is undefined: for a vector with NaN, or the cosine of a zero vector.
    package func distance(of fields: MapValue) -> Double? {
        guard case .vector(let vector)? = fields[field], vector.count == self.vector.count else { return nil }
        let distance = measure.distance(from: self.vector, to: vector)
        guard !distance.isNaN else { return nil }
        if let threshold, measure.isCloser(threshold, than: distance) { return nil }
        return distance
    }
}

extension VectorSearch.Measure {
    /// Returns whether one distance sorts before another.
    package func isCloser(_ distance: Double, than other: Double) -> Bool {
        self == .dotProduct ? distance > other : distance < other
    }

    /// Returns the distance between two vectors with the same number of dimensions, or NaN if it is undefined.
    package func distance(from left: [Double], to right: [Double]) -> Double {
        switch self {
        case .euclidean: sum(left, right) { ($0 - $1) * ($0 - $1) }.squareRoot()
        case .dotProduct: sum(left, right, *)
        case .cosine: cosineDistance(left, right)
        }
    }

    private func cosineDistance(_ left: [Double], _ right: [Double]) -> Double {
        // The square root of the product is exact for vectors of the same direction.
        let squares = sum(left, left, *) * sum(right, right, *)
        guard squares.isNormal else {
            guard let left = scaled(left), let right = scaled(right) else { return .nan }
            return cosineDistance(left, right)
        }
        // Clamped, because rounding may exceed the range.
        return 1 - max(-1, min(1, sum(left, right, *) / squares.squareRoot()))
    }

    /// Returns the vector scaled to a largest magnitude of 1, so that squares neither overflow nor underflow, or `nil` if it has
    /// no direction.
    private func scaled(_ vector: [Double]) -> [Double]? {
        let largest = vector.reduce(0) { max($0, abs($1)) }
        guard largest > 0, largest.isFinite, !vector.contains(where: \.isNaN) else { return nil }
        return vector.map { $0 / largest }
    }

    private func sum(_ left: [Double], _ right: [Double], _ term: (Double, Double) -> Double) -> Double {
        var sum = 0.0
        for index in left.indices { sum += term(left[index], right[index]) }
        return sum
    }
}
