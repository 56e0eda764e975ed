internal import DocumentModel

/// Reads the index for one query, and counts the entries that it reads.
final class MeteredIndexReader {
    let snapshot: any QueryIndex
    let names: NameKeyMapping
    /// The number of entries read, including those that were only counted.
    var entriesScanned = 0

    init(_ snapshot: any QueryIndex, _ names: NameKeyMapping) {
        self.snapshot = snapshot
        self.names = names
    }

    /// Returns the scan of one range of a field scan.
    func scan(
        _ field: FieldScan,
        _ range: ValueKeyRange,
        _ names: Range<NameBound>,
        isDescending: Bool = false
    ) -> IndexScan {
        var scan = IndexScan(target: self.names.target, index: field.index, values: range, isDescending: isDescending)
        if names != .allNames { scan.names = names }
        return scan
    }

    /// Returns the scan of documents by name.
    func scan(_ names: Range<NameBound>, isDescending: Bool = false) -> IndexScan {
        var scan = IndexScan(target: self.names.target, index: .documents, isDescending: isDescending)
        if names != .allNames { scan.names = names }
        return scan
    }

    /// Returns the number of rows of a field scan, counted up to `limit`.
    func count(_ field: FieldScan, _ names: Range<NameBound>, limit: Int? = nil) throws(StatusError) -> Int {
        var count = 0
        for range in field.ranges {
            if let limit, count >= limit { break }
            count += try snapshot.count(scan(field, range, names), limit: limit.map { $0 - count })
        }
        entriesScanned += count
        return count
    }

    /// Returns an iterator over the names in the intersection of point lookups.
    func nameIterator(
        _ scans: [FieldScan],
        _ names: Range<NameBound>,
        isDescending: Bool
    ) throws(StatusError) -> any SortedNameIterator {
        var iterators: [any SortedNameIterator] = []
        for scan in scans {
            var values: [any SortedNameIterator] = []
            for range in scan.ranges {
                values.append(try CursorNameIterator(self.scan(scan, range, names, isDescending: isDescending), self))
            }
            iterators.append(values.count == 1 ? values[0] : NameUnionIterator(values, isDescending: isDescending))
        }
        return iterators.count == 1 ? iterators[0] : try ZigZagMergeJoin(iterators)
    }
}
