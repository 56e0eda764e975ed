internal import DocumentModel

/// The documents of a view, sorted in the order of its target.
struct SortedResult {
    private(set) var keys: [ViewSortKey] = []
    private(set) var documents: [LocalDocument] = []

    /// A document with its sort key.
    struct Element {
        let key: ViewSortKey
        let document: LocalDocument
    }

    var count: Int { documents.count }

    var last: Element? {
        guard let key = keys.last, let document = documents.last else { return nil }
        return Element(key: key, document: document)
    }

    /// Returns the element with a sort key, which must be in the result.
    func element(_ key: ViewSortKey, in query: ViewQuery) -> Element {
        Element(key: key, document: documents[keys.firstIndex(notBefore: key, in: query)])
    }

    mutating func removeLast() {
        keys.removeLast()
        documents.removeLast()
    }

    /// Removes and inserts elements: one by one if they are few, otherwise in one pass over all.
    mutating func update(
        removing removed: [Element],
        inserting inserted: [Element],
        in query: ViewQuery
    ) {
        if (removed.count + inserted.count) * Self.costOfOneByOne < count {
            for element in removed {
                let index = keys.firstIndex(notBefore: element.key, in: query)
                keys.remove(at: index)
                documents.remove(at: index)
            }
            for element in inserted {
                let index = keys.firstIndex(notBefore: element.key, in: query)
                keys.insert(element.key, at: index)
                documents.insert(element.document, at: index)
            }
        } else {
            merge(removing: Set(removed.map(\.document.path)), inserting: inserted, in: query)
        }
    }

    /// The number of elements that one insertion may move in the time in which a merge compares one.
    private static let costOfOneByOne = 16

    private mutating func merge(removing removed: Set<DocumentPath>, inserting inserted: [Element], in query: ViewQuery) {
        var merged = SortedResult()
        merged.keys.reserveCapacity(count + inserted.count)
        merged.documents.reserveCapacity(count + inserted.count)
        var rest = inserted.sorted { query.precedes($0.key, $1.key) }[...]
        for (key, document) in zip(keys, documents) where !removed.contains(document.path) {
            while let next = rest.first, query.precedes(next.key, key) {
                merged.append(next)
                rest.removeFirst()
            }
            merged.append(Element(key: key, document: document))
        }
        for element in rest { merged.append(element) }
        (keys, documents) = (merged.keys, merged.documents)
    }

    private mutating func append(_ element: Element) {
        keys.append(element.key)
        documents.append(element.document)
    }
}

extension [ViewSortKey] {
    /// Returns the index of the first key that does not precede a key, by binary search.
    func firstIndex(notBefore key: ViewSortKey, in query: ViewQuery) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if query.precedes(self[middle], key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
