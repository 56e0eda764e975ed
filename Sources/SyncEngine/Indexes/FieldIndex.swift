package import DocumentModel

/// The definition of an index in a cache: documents sorted by the values of fields.
///
/// The keys of its entries are the ``KeyEncoder``'s encodings of the values, one after the other; those of descending orders are
/// bit-inverted.
package struct FieldIndex: Hashable, Sendable {
    /// The documents: those of a collection, or of a collection group.
    package let source: StructuredQuery.Source
    /// The orders. The last one is by name, so that no two documents have the same key.
    package let orders: [StructuredQuery.Order]

    /// Creates an index; returns `nil` if the source is of another kind, or if an order is by distance.
    package init?(_ source: StructuredQuery.Source, orders: [StructuredQuery.Order]) {
        switch source {
        case .collection, .collectionGroup(_, below: nil): break
        case .collectionGroup, .descendants: return nil
        }
        let isByField = orders.allSatisfy { order in
            if case .field = order.key { true } else { false }
        }
        guard isByField else { return nil }
        self.source = source
        self.orders = orders
    }

    /// The maximum number of indexes of a cache.
    package static let maximumCount = 32

    /// The key of a document that has a value too long for one. It says nothing of the order, so that all scans visit such documents.
    package static let unorderedKey: [UInt8] = []
    /// The lower bound of all other keys.
    static let lowerBound: [UInt8] = [1]
    /// The upper bound of all keys.
    static let upperBound: [UInt8] = [0xff]

    /// Returns the key of a document; `nil` if it lacks one of the fields, and has no entry.
    package func key(of fields: MapValue, at path: DocumentPath) -> [UInt8]? {
        var encoder = KeyEncoder()
        var key: [UInt8] = []
        var isTruncated = false
        for order in orders {
            guard !order.isByName else {
                key.append(path.nameKey(in: source), order.direction)
                continue
            }
            guard let value = fields[order.key.field] else { return nil }
            encoder.removeAll()
            encoder.append(value)
            isTruncated = isTruncated || ValueKey.isTruncated(byteCount: encoder.bytes.count)
            key.append(encoder.bytes, order.direction)
        }
        return isTruncated ? Self.unorderedKey : key
    }
}

extension DocumentPath {
    /// Returns the encoding of the name by which the documents of a source are sorted. None is a prefix of another.
    func nameKey(in source: StructuredQuery.Source) -> [UInt8] {
        // The key of a path is a prefix of those of the documents below it.
        if case .collection = source { NameKey(id).bytes } else { NameKey(self).bytes + [0] }
    }
}

extension [UInt8] {
    /// Appends the encoding of a value, bit-inverted for a descending order.
    mutating func append(_ encoding: [UInt8], _ direction: StructuredQuery.Order.Direction) {
        if direction == .ascending { self += encoding } else { self += encoding.lazy.map { ~$0 } }
    }
}

/// A scan of a range of an index.
package struct IndexScan: Hashable, Sendable {
    /// The index.
    package let index: FieldIndex
    /// The range of the keys.
    package let range: ValueKeyRange
    /// True to visit the documents in descending order of their keys.
    package let isReversed: Bool

    /// Creates a scan.
    package init(_ index: FieldIndex, _ range: ValueKeyRange, isReversed: Bool = false) {
        self.index = index
        self.range = range
        self.isReversed = isReversed
    }
}

extension FieldIndex {
    /// The scan of the documents with ``unorderedKey``.
    var unorderedScan: IndexScan {
        IndexScan(self, ValueKeyRange(lower: Self.unorderedKey, upper: Self.lowerBound))
    }
}
