internal import DocumentModel

/// The documents that may be among the nearest of a vector search, according to bounds of their ranks.
///
/// Memory is bounded: when there are too many candidates, those that sort after enough others are dropped. ``limit`` documents
/// sort before each of them, provided that their vectors in the index are those of the documents.
struct VectorCandidates {
    /// A document.
    struct Candidate {
        let name: [UInt8]
        /// The range of its rank; a single value if the rank is known exactly.
        let ranks: ClosedRange<Double>
    }

    /// A position in the order of the result.
    struct Position {
        var rank = Double.infinity
        /// The document's name; `nil` for a position after all documents with the rank.
        var name: [UInt8]?

        /// Returns whether a position sorts before another, or is the same.
        func isAtOrBefore(_ other: Position) -> Bool {
            guard rank == other.rank else { return rank < other.rank }
            guard let otherName = other.name else { return true }
            return name.map { !otherName.lexicographicallyPrecedes($0) } ?? false
        }
    }

    /// The number of documents before each dropped candidate.
    let limit: Int
    /// True if documents at the same distance are in ascending order of their names.
    let isOrderedByName: Bool
    private(set) var candidates: [Candidate] = []
    /// The position of the last of ``limit`` documents. Candidates after it are dropped.
    private(set) var bound = Position()
    /// The position of the last of ``limit`` documents among those that were already read.
    var readBound = Position()
    /// True if candidates were dropped for ``bound``.
    private(set) var hasDropped = false
    private var nameBytes = 0

    /// The number of candidates that are kept before some are dropped, in addition to ``limit``.
    private static let spareCount = 2_048
    /// The maximum size of the candidates' names.
    private static let maximumNameBytes = 4 << 20

    init(limit: Int, isOrderedByName: Bool) {
        self.limit = limit
        self.isOrderedByName = isOrderedByName
    }

    /// The rank after which candidates need not be added.
    var maximumRank: Double { min(bound.rank, readBound.rank) }

    /// True if there are too many candidates, also after ``drop()``.
    var isFull: Bool { candidates.count >= limit + Self.spareCount || nameBytes > Self.maximumNameBytes }

    /// Records that a vector was skipped, because its rank is above ``maximumRank``.
    mutating func skip() {
        hasDropped = true
    }

    /// Adds a document, unless enough others sort before it.
    mutating func add(_ name: [UInt8], _ ranks: ClosedRange<Double>) {
        let candidate = Candidate(name: name, ranks: ranks)
        guard isNeeded(candidate) else {
            hasDropped = true
            return
        }
        candidates.append(candidate)
        nameBytes += name.count
        if isFull { drop() }
    }

    /// Drops the candidates that sort after enough others.
    private mutating func drop() {
        if candidates.count >= limit {
            let last = candidates.map { upper($0) }.sorted { $0.isAtOrBefore($1) && !$1.isAtOrBefore($0) }[limit - 1]
            if last.isAtOrBefore(bound) { bound = last }
        }
        let count = candidates.count
        candidates = candidates.filter { isNeeded($0) }
        hasDropped = hasDropped || candidates.count < count
        nameBytes = candidates.reduce(0) { $0 + $1.name.count }
    }

    /// Removes and returns all candidates, by their least possible rank.
    mutating func removeAll() -> [Candidate] {
        defer {
            candidates = []
            nameBytes = 0
        }
        return candidates.sorted { left, right in
            left.ranks.lowerBound == right.ranks.lowerBound
                ? left.name.lexicographicallyPrecedes(right.name) : left.ranks.lowerBound < right.ranks.lowerBound
        }
    }

    /// Returns whether a candidate may sort before the bounds.
    func isNeeded(_ candidate: Candidate) -> Bool {
        let lower = lower(candidate)
        return lower.isAtOrBefore(bound) && lower.isAtOrBefore(readBound)
    }

    /// The first position that a candidate may have. Without a known rank or order of names, it may sort before any other document
    /// with its rank.
    private func lower(_ candidate: Candidate) -> Position {
        Position(rank: candidate.ranks.lowerBound, name: isPositionKnown(candidate) ? candidate.name : [])
    }

    /// The last position that a candidate may have.
    private func upper(_ candidate: Candidate) -> Position {
        Position(rank: candidate.ranks.upperBound, name: isPositionKnown(candidate) ? candidate.name : nil)
    }

    private func isPositionKnown(_ candidate: Candidate) -> Bool {
        isOrderedByName && candidate.ranks.lowerBound == candidate.ranks.upperBound
    }
}
