internal import DocumentModel

/// A way to all documents that may fulfil one alternative of a filter.
enum DocumentAccess: Sendable {
    /// These only.
    case documents([DocumentPath])
    /// Those that are in all of these fields' ranges, each of one value.
    case points([FieldScan])
    /// Those in a field's ranges.
    case range(FieldScan)
    /// Those at some places.
    case places(PlaceScan)
    /// All of the source.
    case all

    /// The way, for people.
    var text: String {
        switch self {
        case .documents(let paths): "Take the \(paths.count) documents named"
        case .points(let fields):
            "Take the documents that are in the entries of " + fields.map(\.text).joined(separator: " and of ")
        case .range(let field): "Take the documents in the entries of \(field.text)"
        case .places(let places): "Take the documents with a place in a box in \(places.field)"
        case .all: "Take all documents"
        }
    }
}

extension QueryAlternative {
    /// The ways to the documents; there is at least one.
    ///
    /// - Parameter implied: What else all documents of the result have.
    func accesses(_ implied: [FieldScan]) -> [DocumentAccess] {
        if let documents { return [.documents(documents)] }
        let points = self.points
        var accesses = points.isEmpty ? [] : [DocumentAccess.points(points)]
        accesses += scans.filter { !$0.isPoints }.map(DocumentAccess.range)
        accesses += compositeScans.map(DocumentAccess.range)
        accesses += places.map(DocumentAccess.places)
        if accesses.isEmpty { accesses = implied.map(DocumentAccess.range) }
        return accesses.isEmpty ? [.all] : accesses
    }
}

extension IndexScanning {
    /// How many documents a way leads to at most, counted up to `limit`.
    func count(_ access: DocumentAccess, _ alternative: QueryAlternative, limit: Int) throws(StatusError) -> Int {
        switch access {
        case .documents(let paths): return paths.count
        case .points(let fields):
            var least = limit
            for field in fields { least = min(least, try count(field, alternative.names, limit: least)) }
            return least
        case .range(let field): return try count(field, alternative.names, limit: limit)
        case .places(let places):
            var count = 0
            try snapshot.forEachPlace(names.target, places.field, in: places.boxes) { _ in
                count += 1
                return count < limit
            }
            rows += count
            return count
        case .all: return try snapshot.count(scan(alternative.names), limit: limit)
        }
    }

    /// The way to the fewest documents, and how many these are at most; nil when there are `limit` or more whichever way.
    func best(
        _ accesses: [DocumentAccess],
        _ alternative: QueryAlternative,
        limit: Int
    ) throws(StatusError) -> (access: DocumentAccess, count: Int)? {
        var bound = min(limit, 128)
        while bound > 0 {
            var best: (access: DocumentAccess, count: Int)?
            for access in accesses {
                let count = try count(access, alternative, limit: best?.count ?? bound)
                if count < best?.count ?? bound { best = (access, count) }
            }
            if let best { return best }
            guard bound < limit else { return nil }
            bound = min(limit, bound.multipliedReportingOverflow(by: 8).overflow ? limit : bound * 8)
        }
        return nil
    }

    /// Calls `body` with the documents that a way leads to, each once, until it returns false.
    func forEach(
        _ access: DocumentAccess,
        _ alternative: QueryAlternative,
        _ body: (DocumentPath) throws(StatusError) -> Bool
    ) throws(StatusError) {
        switch access {
        case .documents(let paths):
            for path in paths where try !body(path) { return }
        case .points(let fields):
            let stream = try names(in: fields, alternative.names, isDescending: false)
            while let name = stream.current {
                if let path = names.path(name), try !body(path) { return }
                try stream.advance()
            }
        case .range(let field):
            let sieve = try RowSieve([alternative], self)
            for range in field.ranges where try !forEach(scan(field, range, alternative.names), sieve, body) { return }
        case .places(let places):
            let sieve = try NameSieve([alternative], self)
            try snapshot.forEachPlace(names.target, places.field, in: places.boxes) { name throws(StatusError) in
                rows += 1
                guard try sieve.passes(Array(name)), let path = names.path(name) else { return true }
                return try body(path)
            }
        case .all:
            _ = try forEach(scan(alternative.names), RowSieve([alternative], self), body)
        }
    }

    private func forEach(
        _ scan: IndexScan,
        _ sieve: RowSieve,
        _ body: (DocumentPath) throws(StatusError) -> Bool
    ) throws(StatusError) -> Bool {
        let cursor = try sieve.cursor(scan)
        while try cursor.next() {
            if let path = try sieve.document(cursor), try !body(path) { return false }
        }
        return true
    }
}
