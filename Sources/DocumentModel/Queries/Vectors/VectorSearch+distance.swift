extension VectorSearch {
    /// A document's distance; nil for one that is not in the result.
    ///
    /// A document is not when it has no vector in the field, or one of other dimensions, when the threshold keeps it out,
    /// and when there is no such distance: of a vector with NaN in it, or of a zero vector's direction.
    package func distance(of fields: MapValue) -> Double? {
        guard case .vector(let vector)? = fields[field], vector.count == self.vector.count else { return nil }
        let distance = measure.distance(from: self.vector, to: vector)
        guard !distance.isNaN else { return nil }
        if let threshold, measure.isCloser(threshold, than: distance) { return nil }
        return distance
    }
}

extension VectorSearch.Measure {
    /// Whether a document at one distance comes before a document at another.
    package func isCloser(_ distance: Double, than other: Double) -> Bool {
        self == .dotProduct ? distance > other : distance < other
    }

    /// The distance of two vectors of the same dimensions; NaN where there is none.
    package func distance(from left: [Double], to right: [Double]) -> Double {
        switch self {
        case .euclidean: sum(left, right) { ($0 - $1) * ($0 - $1) }.squareRoot()
        case .dotProduct: sum(left, right, *)
        case .cosine: cosineDistance(left, right)
        }
    }

    private func cosineDistance(_ left: [Double], _ right: [Double]) -> Double {
        // One root of a product is exact for vectors of the same direction.
        let squares = sum(left, left, *) * sum(right, right, *)
        guard squares.isNormal else {
            guard let left = scaled(left), let right = scaled(right) else { return .nan }
            return cosineDistance(left, right)
        }
        // Rounding must not take it beyond its range.
        return 1 - max(-1, min(1, sum(left, right, *) / squares.squareRoot()))
    }

    /// The vector with 1 as the largest of its magnitudes, so that squares neither overflow nor vanish; nil for one without
    /// a direction.
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
