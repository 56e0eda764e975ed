internal import DocumentModel

/// Collects the first matches in a query's order from groups, each of which sorts after the previous one.
///
/// Memory is bounded: the current group is a heap of at most as many matches as the result still has room for. When documents
/// exceed the limit, they are dropped and read again at the end.
struct TopKCollector: Sendable {
    private let query: NormalizedQuery
    private let maximumBytes: Int
    private let precedes: @Sendable (QueryMatch, QueryMatch) -> Bool
    /// The maximum number of matches, including skipped ones; `nil` for no limit.
    private let capacity: Int?
    /// The sorted matches of complete groups, without skipped ones.
    private var finished: [QueryMatch] = []
    /// The number of matches skipped for the query's offset.
    private var skippedCount = 0
    /// The current group: a max-heap by the query's order, or unordered without a capacity.
    private var group: [QueryMatch] = []
    /// Sorted matches that are merged with those of all groups, and the index of the next one.
    private var overlay: [QueryMatch] = []
    private var nextOverlay = 0
    private var keyBytes = 0
    private var documentBytes = 0
    private var resultBytes = 0

    /// The maximum memory use of sort keys.
    private static let maximumKeyBytes = 64 << 20

    /// The approximate size of a document in a response, without its path and fields.
    private static let documentOverheadBytes = 128

    /// - Parameter maximumBytes: The maximum size of the result.
    init(_ query: NormalizedQuery, maximumBytes: Int) {
        self.query = query
        self.maximumBytes = maximumBytes
        precedes = { query.precedes($0, $1) }
        capacity = query.isExhaustiveVectorSearch ? query.vectorSearch?.limit : query.neededCount
    }

    /// True if no later group can contribute to the result.
    var isFull: Bool { remainingCapacity.map { $0 == 0 } ?? false }

    /// The number of matches from unfinished groups that the result still has room for.
    private var remainingCapacity: Int? { capacity.map { max(0, $0 - finished.count - skippedCount) } }

    /// The last match of the current group, if the result has no room for matches that sort after it.
    var lastOfFullGroup: QueryMatch? { remainingCapacity.flatMap { $0 > 0 && group.count >= $0 ? group[0] : nil } }

    /// Adds a match to the current group.
    ///
    /// - Throws: `.resourceExhausted` when the result or the sort keys are too large.
    mutating func add(_ match: QueryMatch) throws(StatusError) {
        var match = match
        if let remainingCapacity {
            guard remainingCapacity > 0 else { return }
            if group.count >= remainingCapacity {
                guard precedes(match, group[0]) else { return }
                release(group[0])
                retain(&match)
                group.replaceHeapTop(with: match, by: precedes)
                try checkSize()
                return
            }
        }
        retain(&match)
        if capacity == nil { group.append(match) } else { group.pushHeap(match, by: precedes) }
        try checkSize()
    }

    /// Skips the next match, for the query's offset, without its document. No match may have been added before.
    mutating func skip() {
        skippedCount += 1
    }

    /// Moves the current group to the overlay, whose matches can sort anywhere among those of later groups.
    mutating func moveGroupToOverlay() {
        overlay = group.sorted(by: precedes)
        group = []
    }

    /// Finishes the current group: later matches sort after it.
    ///
    /// - Parameter isFinal: Whether a match sorts before all later ones; other matches stay in the group.
    mutating func finishGroup(where isFinal: (QueryMatch) -> Bool = { _ in true }) throws(StatusError) {
        let sorted = group.count > 1 ? group.sorted(by: precedes) : group
        let end = sorted.firstIndex { !isFinal($0) } ?? sorted.count
        for match in sorted[..<end] { try finish(match) }
        // A descending array is a valid max-heap.
        group = sorted[end...].reversed()
    }

    /// Returns the documents of the result.
    ///
    /// - Parameter read: Reads a dropped document again, with the fields of the result.
    mutating func result(
        reading read: (QueryMatch) throws(StatusError) -> EncodedDocument?
    ) throws(StatusError) -> [EncodedDocument] {
        try finishGroup()
        while nextOverlay < overlay.count, !isFull {
            append(overlay[nextOverlay])
            nextOverlay += 1
        }
        var matches = finished
        if query.isReversed { matches.reverse() }
        if let search = query.vectorSearch, !query.isExhaustiveVectorSearch { matches = search.nearest(matches) }
        var documents: [EncodedDocument] = []
        documents.reserveCapacity(matches.count)
        var bytes = 0
        for match in matches {
            let result: EncodedDocument? = if let kept = match.document { kept } else { try read(match) }
            guard let document = result else { continue }
            bytes += document.fieldsJSON.count + document.path.string.utf8.count + Self.documentOverheadBytes
            guard bytes <= maximumBytes else { throw .resultTooLarge(maximumBytes) }
            documents.append(document)
        }
        return documents
    }

    private mutating func finish(_ match: QueryMatch) throws(StatusError) {
        while nextOverlay < overlay.count, !isFull, precedes(overlay[nextOverlay], match) {
            append(overlay[nextOverlay])
            nextOverlay += 1
        }
        if isFull { release(match) } else { append(match) }
        try checkSize()
    }

    private mutating func append(_ match: QueryMatch) {
        if skippedCount < query.offset {
            skippedCount += 1
            release(match)
        } else {
            resultBytes += match.document?.fieldsJSON.count ?? 0
            finished.append(match)
        }
    }
}

extension TopKCollector {
    /// Accounts for the memory of a match, and drops its document if documents use too much of it.
    private mutating func retain(_ match: inout QueryMatch) {
        keyBytes += match.keyBytes
        let bytes = match.document?.fieldsJSON.count ?? 0
        if documentBytes + bytes > 2 * maximumBytes { match.document = nil } else { documentBytes += bytes }
    }

    private mutating func release(_ match: QueryMatch) {
        keyBytes -= match.keyBytes
        documentBytes -= match.document?.fieldsJSON.count ?? 0
    }

    private func checkSize() throws(StatusError) {
        let isUnlimited = capacity == nil && query.offset == 0
        guard resultBytes <= maximumBytes, !isUnlimited || documentBytes <= maximumBytes else {
            throw .resultTooLarge(maximumBytes)
        }
        guard keyBytes <= Self.maximumKeyBytes else {
            throw StatusError(
                .resourceExhausted,
                "The sort keys of the query exceed the memory limit. Use a smaller limit, and a cursor after the last document instead "
                    + "of an offset."
            )
        }
    }
}

extension VectorSearch {
    /// Returns the matches with a vector, nearest first. The sort is stable.
    fileprivate func nearest(_ matches: [QueryMatch]) -> [QueryMatch] {
        let measured = matches.enumerated().compactMap { index, match in
            match.distance.map { (match: match, index: index, distance: $0) }
        }
        let sorted = measured.sorted { left, right in
            left.distance == right.distance ? left.index < right.index : measure.isCloser(left.distance, than: right.distance)
        }
        return sorted.prefix(limit).map(\.match)
    }
}

/// A binary max-heap.
extension Array {
    fileprivate mutating func pushHeap(_ element: Element, by precedes: (Element, Element) -> Bool) {
        append(element)
        var index = count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard precedes(self[parent], self[index]) else { return }
            swapAt(parent, index)
            index = parent
        }
    }

    fileprivate mutating func replaceHeapTop(with element: Element, by precedes: (Element, Element) -> Bool) {
        self[0] = element
        var index = 0
        while true {
            var last = index
            for child in [2 * index + 1, 2 * index + 2] where child < count && precedes(self[last], self[child]) {
                last = child
            }
            if last == index { return }
            swapAt(last, index)
            index = last
        }
    }
}
