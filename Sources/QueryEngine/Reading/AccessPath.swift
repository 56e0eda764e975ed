internal import DocumentModel
internal import UTF8Text

/// A way to find all documents that may match one disjunct of a filter.
enum AccessPath: Sendable {
    /// A lookup of documents by name.
    case lookup([DocumentPath])
    /// The intersection of point lookups, by a zig-zag merge join.
    case intersection([FieldScan])
    /// A scan of an index's ranges.
    case scan(FieldScan)
    /// A scan of the geo index.
    case geoScan(GeoScan)
    /// A scan of all documents of the source.
    case fullScan

    /// The plan line of the access path.
    var planText: String {
        switch self {
        case .lookup(let paths): "Look up \(paths.count.counted("document")) by name"
        case .intersection(let scans) where scans.count == 1: "Scan index: \(scans[0].text)"
        case .intersection(let scans): "Zig-zag merge join of index scans: \(scans.planText)"
        case .scan(let scan): "Scan index: \(scan.text)"
        case .geoScan(let scan): "Scan geo index: \(scan.field) in a bounding box"
        case .fullScan: "Scan all documents"
        }
    }
}

extension FilterDisjunct {
    /// Returns the access paths of the disjunct; at least one.
    ///
    /// - Parameter implied: Scans that contain every document of the result, regardless of the filter.
    func accessPaths(implied: [FieldScan]) -> [AccessPath] {
        if let documents { return [.lookup(documents)] }
        let pointLookups = self.pointLookups
        var paths = pointLookups.isEmpty ? [] : [AccessPath.intersection(pointLookups)]
        paths += scans.filter { !$0.isPointLookup }.map(AccessPath.scan)
        paths += compositeScans.map(AccessPath.scan)
        paths += geoScans.map(AccessPath.geoScan)
        if paths.isEmpty { paths = implied.map(AccessPath.scan) }
        return paths.isEmpty ? [.fullScan] : paths
    }

    /// Returns whether the documents that an access path finds, with its probes, are those that match the disjunct.
    func isExact(_ path: AccessPath) -> Bool {
        guard isExact else { return false }
        switch path {
        case .lookup, .geoScan: return false
        case .intersection: return scans.allSatisfy(\.isPointLookup)
        case .scan(let scan):
            return scans.allSatisfy { $0.isCoveredByProbes || $0.index == scan.index && $0.ranges == scan.ranges }
        case .fullScan: return scans.allSatisfy(\.isCoveredByProbes)
        }
    }
}

extension MeteredIndexReader {
    /// Returns an upper bound on the number of documents that an access path finds, counted up to `limit`.
    func count(_ path: AccessPath, _ disjunct: FilterDisjunct, limit: Int) throws(StatusError) -> Int {
        switch path {
        case .lookup(let paths): return paths.count
        case .intersection(let scans):
            var least = limit
            for scan in scans { least = min(least, try count(scan, disjunct.names, limit: least)) }
            return least
        case .scan(let scan): return try count(scan, disjunct.names, limit: limit)
        case .geoScan(let scan):
            var count = 0
            try snapshot.forEachGeoPoint(names.target, scan.field, in: scan.boxes, outside: []) { _ in
                count += 1
                return count < limit
            }
            entriesScanned += count
            return count
        case .fullScan: return try snapshot.count(scan(disjunct.names), limit: limit)
        }
    }

    /// Returns the access path to the fewest documents, with the upper bound on their number; `nil` if every path finds `limit`
    /// or more.
    ///
    /// The paths are counted up to a limit that grows exponentially, so the cost is proportional to the result.
    func cheapest(
        _ paths: [AccessPath],
        _ disjunct: FilterDisjunct,
        limit: Int
    ) throws(StatusError) -> (path: AccessPath, count: Int)? {
        var bound = min(limit, 128)
        while bound > 0 {
            var best: (path: AccessPath, count: Int)?
            for path in paths {
                let count = try count(path, disjunct, limit: best?.count ?? bound)
                if count < best?.count ?? bound { best = (path, count) }
            }
            if let best { return best }
            guard bound < limit else { return nil }
            bound = min(limit, bound.multipliedReportingOverflow(by: 8).overflow ? limit : bound * 8)
        }
        return nil
    }

    /// Calls `body` once with the name of each document that an access path finds, until it returns `false`.
    func forEach(
        _ path: AccessPath,
        _ disjunct: FilterDisjunct,
        _ body: ([UInt8]) throws(StatusError) -> Bool
    ) throws(StatusError) {
        switch path {
        case .lookup(let paths):
            for path in paths where try !body(names.name(of: path)) { return }
        case .intersection(let scans):
            let iterator = try nameIterator(scans, disjunct.names, isDescending: false)
            while let name = iterator.current {
                guard try body(name) else { return }
                try iterator.advance()
            }
        case .scan(let scan):
            let filter = try JoinedProbeFilter([disjunct], self)
            for range in scan.ranges where try !forEach(self.scan(scan, range, disjunct.names), filter, body) { return }
        case .geoScan(let scan):
            let filter = try IndexProbeFilter([disjunct], self)
            try snapshot.forEachGeoPoint(names.target, scan.field, in: scan.boxes, outside: []) { name throws(StatusError) in
                entriesScanned += 1
                let name = Array(name)
                return try filter.mayMatch(name) ? body(name) : true
            }
        case .fullScan:
            _ = try forEach(scan(disjunct.names), JoinedProbeFilter([disjunct], self), body)
        }
    }

    private func forEach(
        _ scan: IndexScan,
        _ filter: JoinedProbeFilter,
        _ body: ([UInt8]) throws(StatusError) -> Bool
    ) throws(StatusError) -> Bool {
        let cursor = try filter.cursor(scan)
        while try cursor.next() {
            if let name = try filter.name(cursor), try !body(name) { return false }
        }
        return true
    }
}
