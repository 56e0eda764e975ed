internal import DocumentModel

/// Looks into a snapshot of the index for one query, and counts the rows.
final class IndexScanning {
    let snapshot: IndexSnapshot
    let names: QueryNames
    /// How many rows have been looked at.
    var rows = 0

    init(_ snapshot: IndexSnapshot, _ names: QueryNames) {
        self.snapshot = snapshot
        self.names = names
    }

    /// One of a field's ranges.
    func scan(
        _ field: FieldScan,
        _ range: ValueKeyRange,
        _ names: Range<NameBound>,
        isDescending: Bool = false
    ) -> IndexScan {
        var scan = IndexScan(target: self.names.target, subject: field.subject, values: range, isDescending: isDescending)
        if names != .allNames { scan.names = names }
        return scan
    }

    /// All documents.
    func scan(_ names: Range<NameBound>, isDescending: Bool = false) -> IndexScan {
        var scan = IndexScan(target: self.names.target, subject: .documents, isDescending: isDescending)
        if names != .allNames { scan.names = names }
        return scan
    }

    /// How many rows a field's ranges have, counted up to `limit`.
    func count(_ field: FieldScan, _ names: Range<NameBound>, limit: Int? = nil) throws(StatusError) -> Int {
        var count = 0
        for range in field.ranges {
            if let limit, count >= limit { break }
            count += try snapshot.count(scan(field, range, names), limit: limit.map { $0 - count })
        }
        rows += count
        return count
    }

    /// The documents that are in all of some fields' ranges, each of one value, in the order of their names.
    func names(
        in fields: [FieldScan],
        _ names: Range<NameBound>,
        isDescending: Bool
    ) throws(StatusError) -> any NameStream {
        var streams: [any NameStream] = []
        for field in fields {
            var values: [any NameStream] = []
            for range in field.ranges {
                values.append(try CursorNames(scan(field, range, names, isDescending: isDescending), self))
            }
            streams.append(values.count == 1 ? values[0] : UnitedNames(values, isDescending: isDescending))
        }
        return streams.count == 1 ? streams[0] : try CommonNames(streams)
    }
}
