import TestSupport

/// Picks states that a power cut may leave, each once, up to a number of them.
///
/// First everything and nothing of what was not synced, at every point. Then one operation that has another fate than the
/// rest: any at the decisive points, the latest elsewhere. Then two: most faults of programs that store data show so.
/// The others are drawn at random, with any number of operations lost or torn.
struct CutSearch {
    /// A state, and how many commits must be there.
    struct Candidate: Sendable {
        let state: CutState
        let promised: Int
    }

    /// The states found, no two of which look the same.
    private(set) var candidates: [Candidate] = []
    /// How many of the latest operations were tried systematically.
    private(set) var reach = Reach()

    private let points: [CutPoint]
    private var places: [Int: Int] = [:]
    private var generator: SeededGenerator

    /// How many of the latest operations were lost or torn, or there alone, in every way; nil for all.
    struct Reach: Hashable, Sendable {
        /// One operation, at the decisive points.
        var decisiveSingles: Int?
        /// One operation, at every point.
        var singles: Int?
        /// Two operations, at the decisive points.
        var pairs: Int?
    }

    init(_ points: [CutPoint], count: Int, generator: SeededGenerator) {
        self.points = points
        self.generator = generator
        for point in points.indices {
            add(CutState(point: point, keepsRest: true))
            add(CutState(point: point, keepsRest: false))
        }
        let start = candidates.count
        let rest = max(0, count - start)
        let decisive = points.indices.filter { points[$0].isDecisive }
        reach.decisiveSingles = addSingles(at: decisive, until: start + rest / 2)
        reach.singles = addSingles(at: Array(points.indices), until: start + rest * 5 / 8)
        reach.pairs = addPairs(at: decisive, until: start + rest * 6 / 8)
        addRandom(until: count)
    }

    private mutating func add(_ state: CutState) {
        let point = points[state.point]
        let digest = state.tree(at: point).digest
        if let place = places[digest] {
            // The later the more was promised.
            if candidates[place].promised < point.promised {
                candidates[place] = Candidate(state: state, promised: point.promised)
            }
        } else {
            places[digest] = candidates.count
            candidates.append(Candidate(state: state, promised: point.promised))
        }
    }

    private var longestPending: Int {
        points.map(\.disk.pending.count).max() ?? 0
    }

    private mutating func addSingles(at chosen: [Int], until limit: Int) -> Int? {
        for age in 0..<longestPending {
            for (point, index) in places(ofAge: age, at: chosen) {
                guard candidates.count < limit else { return age }
                add(CutState(point: point, keepsRest: false, fates: [index: .whole]))
                for remnant in points[point].disk.pending[index].operation.remnants.indices {
                    add(CutState(point: point, keepsRest: true, fates: [index: .remnant(remnant)]))
                    if remnant > 0 { add(CutState(point: point, keepsRest: false, fates: [index: .remnant(remnant)])) }
                }
            }
        }
        return nil
    }

    private mutating func addPairs(at chosen: [Int], until limit: Int) -> Int? {
        for age in 1..<max(1, longestPending) {
            for (point, older) in places(ofAge: age, at: chosen) {
                for newer in (older + 1)..<points[point].disk.pending.count {
                    guard candidates.count < limit else { return age }
                    add(CutState(point: point, keepsRest: true, fates: [older: .remnant(0), newer: .remnant(0)]))
                    add(CutState(point: point, keepsRest: false, fates: [older: .whole, newer: .whole]))
                    add(CutState(point: point, keepsRest: true, fates: [older: .remnant(0), newer: anyRemnant(point, newer)]))
                    add(CutState(point: point, keepsRest: true, fates: [older: anyRemnant(point, older), newer: .remnant(0)]))
                }
            }
        }
        return nil
    }

    private mutating func addRandom(until limit: Int) {
        let pointsWithChoice = points.indices.filter { points[$0].disk.pending.count > 1 }
        // Where there is little to choose from, most states are found already.
        for _ in 0..<(4 * limit) where candidates.count < limit {
            guard let point = pointsWithChoice.randomElement(using: &generator) else { return }
            let kept = [0.1, 0.5, 0.9].randomElement(using: &generator) ?? 0.5
            var state = CutState(point: point, keepsRest: kept > 0.5)
            for index in points[point].disk.pending.indices {
                let isKept = Double.random(in: 0..<1, using: &generator) < kept
                let isTorn = Double.random(in: 0..<1, using: &generator) < 0.2
                if isTorn {
                    state.fates[index] = anyRemnant(point, index)
                } else if isKept != state.keepsRest {
                    state.fates[index] = isKept ? .whole : .remnant(0)
                }
            }
            add(state)
        }
    }

    /// The points with so many operations behind one, and its index.
    private func places(ofAge age: Int, at chosen: [Int]) -> [(point: Int, index: Int)] {
        chosen.compactMap { point in
            let index = points[point].disk.pending.count - 1 - age
            return index >= 0 ? (point, index) : nil
        }
    }

    private mutating func anyRemnant(_ point: Int, _ index: Int) -> CutState.Fate {
        let operation = points[point].disk.pending[index].operation
        guard operation.byteCount > 1 else { return .remnant(0) }
        if Bool.random(using: &generator) { return .remnant(operation.remnants.indices.randomElement(using: &generator) ?? 0) }
        return .cut(.random(in: 0..<operation.byteCount, using: &generator), growing: .random(using: &generator))
    }
}
