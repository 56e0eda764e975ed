import TestSupport

/// Selects distinct states after power cuts, up to a given number.
///
/// First, all or none of the pending operations at every point. Then one operation with a different outcome than the
/// others: every operation at decisive points, the latest ones at other points. Then two operations, which reveals most errors.
/// The remaining states are random, with any number of operations lost or torn.
struct CutStateSearch {
    /// A state, and the number of commits that must have survived.
    struct Candidate: Sendable {
        let state: CutState
        let acknowledged: Int
    }

    /// The selected states, each with different files.
    private(set) var candidates: [Candidate] = []
    /// The extent of the systematic part of the search.
    private(set) var coverage = Coverage()

    private let points: [CutPoint]
    private var indexesByDigest: [Int: Int] = [:]
    private var generator: SeededGenerator

    /// The number of latest operations whose outcomes were tried exhaustively; `nil` for all.
    struct Coverage: Hashable, Sendable {
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
            add(CutState(point: point, keepsOthers: true))
            add(CutState(point: point, keepsOthers: false))
        }
        let start = candidates.count
        let rest = max(0, count - start)
        let decisive = points.indices.filter { points[$0].isDecisive }
        coverage.decisiveSingles = addSingles(at: decisive, until: start + rest / 2)
        coverage.singles = addSingles(at: Array(points.indices), until: start + rest * 5 / 8)
        coverage.pairs = addPairs(at: decisive, until: start + rest * 6 / 8)
        addRandom(until: count)
    }

    private mutating func add(_ state: CutState) {
        let point = points[state.point]
        let digest = state.tree(at: point).digest
        if let index = indexesByDigest[digest] {
            // Keeps the point with more acknowledged commits.
            if candidates[index].acknowledged < point.acknowledged {
                candidates[index] = Candidate(state: state, acknowledged: point.acknowledged)
            }
        } else {
            indexesByDigest[digest] = candidates.count
            candidates.append(Candidate(state: state, acknowledged: point.acknowledged))
        }
    }

    private var longestPending: Int {
        points.map(\.disk.pending.count).max() ?? 0
    }

    private mutating func addSingles(at chosen: [Int], until limit: Int) -> Int? {
        for age in 0..<longestPending {
            for (point, index) in operations(ofAge: age, at: chosen) {
                guard candidates.count < limit else { return age }
                add(CutState(point: point, keepsOthers: false, outcomes: [index: .whole]))
                for partialOutcome in points[point].disk.pending[index].operation.partialOutcomes.indices {
                    add(CutState(point: point, keepsOthers: true, outcomes: [index: .partialOutcome(partialOutcome)]))
                    if partialOutcome > 0 {
                        add(CutState(point: point, keepsOthers: false, outcomes: [index: .partialOutcome(partialOutcome)]))
                    }
                }
            }
        }
        return nil
    }

    private mutating func addPairs(at chosen: [Int], until limit: Int) -> Int? {
        for age in 1..<max(1, longestPending) {
            for (point, older) in operations(ofAge: age, at: chosen) {
                for newer in (older + 1)..<points[point].disk.pending.count {
                    guard candidates.count < limit else { return age }
                    add(
                        CutState(
                            point: point,
                            keepsOthers: true,
                            outcomes: [older: .partialOutcome(0), newer: .partialOutcome(0)]
                        )
                    )
                    add(CutState(point: point, keepsOthers: false, outcomes: [older: .whole, newer: .whole]))
                    add(
                        CutState(
                            point: point,
                            keepsOthers: true,
                            outcomes: [older: .partialOutcome(0), newer: anyPartialOutcome(point, newer)]
                        )
                    )
                    add(
                        CutState(
                            point: point,
                            keepsOthers: true,
                            outcomes: [older: anyPartialOutcome(point, older), newer: .partialOutcome(0)]
                        )
                    )
                }
            }
        }
        return nil
    }

    private mutating func addRandom(until limit: Int) {
        let pointsWithChoice = points.indices.filter { points[$0].disk.pending.count > 1 }
        // Limits the attempts: with few pending operations, most states have been found already.
        for _ in 0..<(4 * limit) where candidates.count < limit {
            guard let point = pointsWithChoice.randomElement(using: &generator) else { return }
            let kept = [0.1, 0.5, 0.9].randomElement(using: &generator) ?? 0.5
            var state = CutState(point: point, keepsOthers: kept > 0.5)
            for index in points[point].disk.pending.indices {
                let isKept = Double.random(in: 0..<1, using: &generator) < kept
                let isTorn = Double.random(in: 0..<1, using: &generator) < 0.2
                if isTorn {
                    state.outcomes[index] = anyPartialOutcome(point, index)
                } else if isKept != state.keepsOthers {
                    state.outcomes[index] = isKept ? .whole : .partialOutcome(0)
                }
            }
            add(state)
        }
    }

    /// Returns the points that have an operation of the given age, with its index.
    private func operations(ofAge age: Int, at chosen: [Int]) -> [(point: Int, index: Int)] {
        chosen.compactMap { point in
            let index = points[point].disk.pending.count - 1 - age
            return index >= 0 ? (point, index) : nil
        }
    }

    private mutating func anyPartialOutcome(_ point: Int, _ index: Int) -> CutState.Outcome {
        let operation = points[point].disk.pending[index].operation
        guard operation.byteCount > 1 else { return .partialOutcome(0) }
        if Bool.random(using: &generator) {
            return .partialOutcome(operation.partialOutcomes.indices.randomElement(using: &generator) ?? 0)
        }
        return .cut(.random(in: 0..<operation.byteCount, using: &generator), growing: .random(using: &generator))
    }
}
