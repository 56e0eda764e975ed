internal import DocumentModel

/// Chooses the first documents by a query's order from those that come in groups, each group behind the one before.
///
/// Memory is bounded: of the current group there are never more than may be in the result, and where their contents are too
/// large they are left out and read again at the end.
struct QuerySelection: Sendable {
    private let query: NormalizedQuery
    private let maximumBytes: Int
    /// Whether a document comes before another.
    private let precedes: @Sendable (FoundDocument, FoundDocument) -> Bool
    /// How many there may be, those that are passed over included; all when nil.
    private let capacity: Int?
    /// Those whose groups are complete, in order, without those that are passed over.
    private var finished: [FoundDocument] = []
    /// How many were passed over.
    private var passedCount = 0
    /// Those of the current group: the last of them first, every other before its two children.
    private var group: [FoundDocument] = []
    /// Those that belong between the others, in order; the next one.
    private var strays: [FoundDocument] = []
    private var nextStray = 0
    private var keyBytes = 0
    private var documentBytes = 0
    private var resultBytes = 0

    /// How much memory sort keys may take.
    private static let maximumKeyBytes = 64 << 20

    /// About what a document takes in an answer beside its path and fields.
    private static let answerBytes = 128

    /// - Parameter maximumBytes: How large the result may be.
    init(_ query: NormalizedQuery, maximumBytes: Int) {
        self.query = query
        self.maximumBytes = maximumBytes
        precedes = { query.precedes($0, $1) }
        capacity = query.sortsByVectorOnly ? query.vectorSearch?.limit : query.neededCount
    }

    /// Whether nothing that comes later can be in the result.
    var isFull: Bool { room.map { $0 == 0 } ?? false }

    /// How many may be in the result beside those of the finished groups.
    private var room: Int? { capacity.map { max(0, $0 - finished.count - passedCount) } }

    /// Adds a document to the current group.
    mutating func add(_ found: FoundDocument) throws(StatusError) {
        var found = found
        if let room {
            guard room > 0 else { return }
            if group.count >= room {
                guard precedes(found, group[0]) else { return }
                forget(group[0])
                note(&found)
                group.replaceTop(with: found, by: precedes)
                try checkSize()
                return
            }
        }
        note(&found)
        if capacity == nil { group.append(found) } else { group.push(found, by: precedes) }
        try checkSize()
    }

    /// Sets those aside that belong anywhere between all others, which come in order.
    mutating func takeGroupAsStrays() throws(StatusError) {
        strays = group.sorted(by: precedes)
        group = []
    }

    /// Ends the group: what comes later stands behind it.
    ///
    /// - Parameter isSettled: Whether a document is surely before all that come later; the others stay in the group.
    mutating func endGroup(where isSettled: (FoundDocument) -> Bool = { _ in true }) throws(StatusError) {
        let sorted = group.count > 1 ? group.sorted(by: precedes) : group
        let end = sorted.firstIndex { !isSettled($0) } ?? sorted.count
        for found in sorted[..<end] { try finish(found) }
        // The last one first is in the order of the group, too.
        group = sorted[end...].reversed()
    }

    /// The documents of the result as the query gives them.
    ///
    /// - Parameter read: Reads a document, and gives it as it is in the result, for those that could not be kept.
    mutating func result(
        reading read: (FoundDocument) throws(StatusError) -> EncodedDocument?
    ) throws(StatusError) -> [EncodedDocument] {
        try endGroup()
        while nextStray < strays.count, !isFull {
            append(strays[nextStray])
            nextStray += 1
        }
        var found = finished
        if query.isReversed { found.reverse() }
        if let search = query.vectorSearch, !query.sortsByVectorOnly { found = search.closest(found) }
        var documents: [EncodedDocument] = []
        documents.reserveCapacity(found.count)
        var bytes = 0
        for found in found {
            let wanted: EncodedDocument? = if let kept = found.document { kept } else { try read(found) }
            guard let document = wanted else { continue }
            bytes += document.fieldsJSON.count + document.path.string.utf8.count + Self.answerBytes
            guard bytes <= maximumBytes else { throw .resultTooLarge(maximumBytes) }
            documents.append(document)
        }
        return documents
    }

    private mutating func finish(_ found: FoundDocument) throws(StatusError) {
        while nextStray < strays.count, !isFull, precedes(strays[nextStray], found) {
            append(strays[nextStray])
            nextStray += 1
        }
        if isFull { forget(found) } else { append(found) }
        try checkSize()
    }

    private mutating func append(_ found: FoundDocument) {
        if passedCount < query.offset {
            passedCount += 1
            forget(found)
        } else {
            resultBytes += found.document?.fieldsJSON.count ?? 0
            finished.append(found)
        }
    }
}

extension QuerySelection {
    private mutating func note(_ found: inout FoundDocument) {
        keyBytes += found.keyBytes
        let bytes = found.document?.fieldsJSON.count ?? 0
        if documentBytes + bytes > 2 * maximumBytes { found.document = nil } else { documentBytes += bytes }
    }

    private mutating func forget(_ found: FoundDocument) {
        keyBytes -= found.keyBytes
        documentBytes -= found.document?.fieldsJSON.count ?? 0
    }

    private func checkSize() throws(StatusError) {
        let isUnlimited = capacity == nil && query.offset == 0
        guard resultBytes <= maximumBytes, !isUnlimited || documentBytes <= maximumBytes else {
            throw .resultTooLarge(maximumBytes)
        }
        guard keyBytes <= Self.maximumKeyBytes else {
            throw StatusError(
                .resourceExhausted,
                "The query has to sort more than fits into memory. Use a smaller limit and, instead of an offset, a cursor behind "
                    + "the last document."
            )
        }
    }
}

extension VectorSearch {
    /// Those with a vector, the closest first; equal ones stay as they are.
    fileprivate func closest(_ found: [FoundDocument]) -> [FoundDocument] {
        let measured = found.enumerated().compactMap { index, found in
            found.distance.map { (found: found, index: index, distance: $0) }
        }
        let sorted = measured.sorted { left, right in
            left.distance == right.distance ? left.index < right.index : measure.isCloser(left.distance, than: right.distance)
        }
        return sorted.prefix(limit).map(\.found)
    }
}
