/// A vector search over ``PackedVector``s, which bounds the distances that ``VectorSearch/distance(of:)`` has for the originals.
///
/// A rank is a distance, or a negated dot product, so that the least is always the nearest. The bounds contain the rank of the
/// original regardless of rounding: u is 2^-24 and η is 2^-150, so rounding to single precision adds at most u|x| + η to a
/// component x, and a sum of n products in single precision is off by at most about (n / lanes + 64) u times the product of the norms.
/// The constants below are larger, which also covers the arithmetic in double precision.
package struct PackedVectorSearch: Sendable {
    private let search: VectorSearch
    /// The query vector in single precision.
    private let components: [Float]
    /// The norm of the query vector.
    private let norm: Double
    /// The maximum relative error of a sum in single precision.
    private let sumError: Double
    /// The maximum rank that the threshold allows.
    private let maximumRank: Double

    /// The relative error of rounding to single precision, and more.
    private static let roundingError = 6.1e-8
    /// The absolute error of rounding a vector of subnormal components, and more.
    private static let subnormalError = 1e-41
    /// The norms for which no intermediate result leaves the range of normal numbers in single precision.
    private static let normRange = 1e-15...1e15
    /// The norms in single precision, squared, from which a cosine is accurate.
    private static let squareRange: ClosedRange<Float> = 1e-20...1e37

    /// Creates a search; `nil` if the query vector is too large or too small for single precision.
    package init?(_ search: VectorSearch) {
        let norm = search.vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard norm <= Self.normRange.upperBound, search.measure == .euclidean || norm >= Self.normRange.lowerBound else {
            return nil
        }
        self.search = search
        self.norm = norm
        components = search.vector.map { Float($0) }
        sumError = Double(components.count / Self.lanes + 64) * 6e-8
        maximumRank = search.threshold.map { search.measure.rank(of: $0) } ?? .infinity
    }

    /// The number of bytes of the vectors that have the right number of dimensions.
    package var byteCount: Int { components.count * PackedVector.componentBytes }

    /// Returns the rank of a distance.
    package func rank(of distance: Double) -> Double { search.measure.rank(of: distance) }

    /// Returns the range of a vector's rank, which is a single value for an exact vector; `nil` if the search excludes the vector.
    ///
    /// - Parameter vector: The bytes of a packed vector with the right number of dimensions.
    package func ranks(_ vector: UnsafeRawBufferPointer, isExact: Bool) -> ClosedRange<Double>? {
        let vector = [Double](packed: vector)
        let distance = search.measure.distance(from: search.vector, to: vector)
        if isExact {
            guard !distance.isNaN else { return nil }
            let rank = search.measure.rank(of: distance)
            return rank > maximumRank ? nil : rank...rank
        }
        let rank = search.measure.rank(of: distance)
        let error = error(ofRounded: vector, distance)
        guard rank.isFinite, error.isFinite else {
            return vector.contains(where: \.isNaN) ? nil : -.infinity ... .infinity
        }
        return rank - error > maximumRank ? nil : rank - error...rank + error
    }

    /// Returns the maximum difference between the distances of a rounded vector and its original.
    private func error(ofRounded vector: [Double], _ distance: Double) -> Double {
        if search.measure == .euclidean { return Self.roundingError * (norm + distance) + Self.subnormalError }
        let other = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard search.measure == .cosine else {
            return norm * (Self.roundingError * other + Self.subnormalError) + 1e-300
        }
        return other < 1e-30 ? .infinity : 2 * Self.roundingError + 1e-8
    }

    /// Returns a lower bound of a vector's rank, quickly; NaN if it is unknown.
    ///
    /// - Parameter vector: The bytes of a packed vector with the right number of dimensions.
    package func lowerBound(_ vector: UnsafeRawBufferPointer) -> Double {
        guard let vector = vector.baseAddress else { return .nan }
        return components.withUnsafeBytes { query in
            guard let query = query.baseAddress else { return .nan }
            switch search.measure {
            case .euclidean:
                let squares = Double(Self.squaredDistance(query, vector, components.count))
                let distance = max(0, squares - Self.subnormalError).squareRoot() * (1 - sumError)
                // Not `max`, which may ignore NaN.
                guard squares.isFinite else { return .nan }
                return distance - 2 * Self.roundingError * (2 * norm + distance) - 2 * Self.subnormalError
            case .dotProduct:
                let (product, squares) = Self.products(query, vector, components.count)
                let other = Double(squares).squareRoot() * 1.001 + 1e-20
                let relative = sumError + 4 * Self.roundingError
                return -Double(product) - relative * norm * other - Self.subnormalError * (1 + norm + other)
            case .cosine:
                let (product, squares) = Self.products(query, vector, components.count)
                guard Self.squareRange.contains(squares) else { return .nan }
                return 1 - Double(product) / (norm * Double(squares).squareRoot()) - 2 * sumError - 1e-6
            }
        }
    }
}

extension PackedVectorSearch {
    /// The number of independent sums.
    private static let lanes = 16

    /// Returns the dot product of two vectors and the squared norm of the second.
    private static func products(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> (Float, squares: Float) {
        var (product0, product1) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
        var (square0, square1) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
        let end = count & ~(lanes - 1)
        var index = 0
        while index < end {
            let (left0, left1) = load(left, index)
            let (right0, right1) = load(right, index)
            product0 += left0 * right0
            product1 += left1 * right1
            square0 += right0 * right0
            square1 += right1 * right1
            index += lanes
        }
        var (product, square) = ((product0 + product1).sum(), (square0 + square1).sum())
        while index < count {
            let component = load(right, index) as Float
            product += load(left, index) * component
            square += component * component
            index += 1
        }
        return (product, square)
    }

    /// Returns the squared distance of two vectors.
    private static func squaredDistance(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Float {
        var (sum0, sum1) = (SIMD8<Float>.zero, SIMD8<Float>.zero)
        let end = count & ~(lanes - 1)
        var index = 0
        while index < end {
            let (left0, left1) = load(left, index)
            let (right0, right1) = load(right, index)
            let (difference0, difference1) = (left0 - right0, left1 - right1)
            sum0 += difference0 * difference0
            sum1 += difference1 * difference1
            index += lanes
        }
        var sum = (sum0 + sum1).sum()
        while index < count {
            let difference = load(left, index) - load(right, index) as Float
            sum += difference * difference
            index += 1
        }
        return sum
    }

    @inline(__always)
    private static func load(_ vector: UnsafeRawPointer, _ index: Int) -> (SIMD8<Float>, SIMD8<Float>) {
        let start = vector + index * MemoryLayout<Float>.size
        return (
            start.loadUnaligned(as: SIMD8<Float>.self),
            start.loadUnaligned(fromByteOffset: MemoryLayout<SIMD8<Float>>.size, as: SIMD8<Float>.self)
        )
    }

    @inline(__always)
    private static func load(_ vector: UnsafeRawPointer, _ index: Int) -> Float {
        vector.loadUnaligned(fromByteOffset: index * MemoryLayout<Float>.size, as: Float.self)
    }
}

extension VectorSearch.Measure {
    /// Returns the rank of a distance: the least is the nearest.
    fileprivate func rank(of distance: Double) -> Double { self == .dotProduct ? -distance : distance }
}
