internal import DocumentModel
internal import DocumentStore

/// The documents of a scope in a range of name keys, in the order of the keys, read page by page.
final class DocumentRows {
    /// A document with the key of its path.
    struct Row {
        let key: [UInt8]
        let document: EncodedDocument
    }

    private let snapshot: EngineSnapshot
    private let scope: EngineSnapshot.Scope
    private let range: (lower: [UInt8], upper: [UInt8])
    private let isDescending: Bool
    private var stored: (lower: [UInt8], upper: [UInt8])
    private var limit: Int
    private var fetched: ArraySlice<(name: [UInt8], document: EncodedDocument)> = []
    private var isFetched = false
    /// Rows with names that are equal up to the cut, in the order of their keys.
    private var sorted: ArraySlice<Row> = []

    /// The maximum number of documents of a page.
    private static let maximumLimit = 1_024

    /// - Parameters:
    ///   - lower: The inclusive lower bound of the paths' ``NameKey``s.
    ///   - upper: The exclusive upper bound.
    ///   - limit: The number of documents of the first page; later ones are larger.
    init(
        _ snapshot: EngineSnapshot,
        _ scope: EngineSnapshot.Scope,
        from lower: [UInt8],
        to upper: [UInt8],
        isDescending: Bool = false,
        limit: Int = 64
    ) {
        self.snapshot = snapshot
        self.scope = scope
        range = (lower, upper)
        stored = (EngineKey.lowerBound(lower), EngineKey.upperBound(upper))
        self.isDescending = isDescending
        self.limit = limit
    }

    /// Returns the next document; `nil` at the end.
    func next() throws(StatusError) -> Row? {
        while true {
            if let row = sorted.popFirst() {
                if isInRange(row.key) { return row }
                continue
            }
            guard let (name, document) = try nextStored() else { return nil }
            guard EngineKey.isCut(name) else { return Row(key: name, document: document) }
            try sortRun(name, document)
        }
    }

    private func isInRange(_ key: [UInt8]) -> Bool {
        !key.lexicographicallyPrecedes(range.lower) && key.lexicographicallyPrecedes(range.upper)
    }

    /// Reads all rows whose names are equal to one up to the cut. Their stored order is that of their digests.
    private func sortRun(_ name: [UInt8], _ document: EncodedDocument) throws(StatusError) {
        let prefix = name.prefix(EngineKey.maximumWholeBytes)
        var run = [Row(key: NameKey(document.path).bytes, document: document)]
        while let (next, document) = try peekStored(), EngineKey.isCut(next), next.starts(with: prefix) {
            run.append(Row(key: NameKey(document.path).bytes, document: document))
            fetched.removeFirst()
        }
        run.sort { first, second in
            isDescending ? second.key.lexicographicallyPrecedes(first.key) : first.key.lexicographicallyPrecedes(second.key)
        }
        sorted = run[...]
    }

    private func nextStored() throws(StatusError) -> (name: [UInt8], document: EncodedDocument)? {
        guard let row = try peekStored() else { return nil }
        fetched.removeFirst()
        return row
    }

    private func peekStored() throws(StatusError) -> (name: [UInt8], document: EncodedDocument)? {
        if let row = fetched.first { return row }
        guard !isFetched, stored.lower.lexicographicallyPrecedes(stored.upper) else { return nil }
        let page = try snapshot.page(scope, from: stored.lower, to: stored.upper, isDescending: isDescending, limit: limit)
        isFetched = page.isLast
        if let last = page.documents.last?.name {
            if isDescending { stored.upper = last } else { stored.lower = last + [0] }
        }
        limit = min(4 * limit, Self.maximumLimit)
        fetched = page.documents[...]
        return fetched.first
    }
}
