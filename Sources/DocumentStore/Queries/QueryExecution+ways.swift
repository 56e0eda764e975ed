internal import DocumentModel

extension QueryExecution {
    /// What work costs, a row of the index as the measure.
    private enum Cost {
        static let document = 20
    }

    /// Chooses the way, and goes it.
    func select() throws(StatusError) {
        if query.sortsByVectorOnly { return try sort() }
        if let ring = ringOrder, query.limit != nil { return try takeRings(ring.field, ring.center, ring.direction) }
        guard let walk = QueryWalk(query, alternatives, index.names) else { return try sort() }
        if walk.field == nil, let stream = try nameStream(walk) { return try merge(stream, walk) }
        guard let needed = query.neededCount else { return try isWalkBest(walk) ? try self.walk(walk, until: nil) : try sort() }
        if hasOtherWays(than: walk) {
            if try countOfBest(limit: needed / 2 + 8) != nil { return try sort() }
            return try self.walk(walk, until: max(2_000, min(needed, 1 << 32) * 4 * Cost.document))
        }
        try self.walk(walk, until: nil)
    }

    /// What all documents of the result have, whatever the filter says.
    private var implied: [FieldScan] {
        if query.sortsByVectorOnly, let search = query.vectorSearch {
            return [FieldScan(existing: search.field, in: .bracket(.vector))]
        }
        for order in query.orders {
            if case .distance(let field, _) = order.key { return [FieldScan(existing: field, in: .bracket(.geoPoint))] }
        }
        return query.requiredFields.map { FieldScan(existing: $0) }
    }

    /// Whether sorting could be less work than walking.
    private func hasOtherWays(than walk: QueryWalk) -> Bool {
        alternatives.allSatisfy { alternative in
            alternative.accesses([]).contains { access in
                switch access {
                case .all: false
                case .range(let scan): scan.field != walk.field
                case .points(let scans): scans.contains { $0.field != walk.field }
                case .documents, .places: true
                }
            }
        }
    }

    /// How many documents sorting would look at; nil when there are `limit` or more.
    private func countOfBest(limit: Int) throws(StatusError) -> Int? {
        var sum = 0
        for alternative in alternatives {
            guard let best = try index.best(alternative.accesses(implied), alternative, limit: limit - sum) else { return nil }
            sum += best.count
            if sum >= limit { return nil }
        }
        return sum
    }

    /// Whether there are fewer documents on the walk than any other way.
    private func isWalkBest(_ walk: QueryWalk) throws(StatusError) -> Bool {
        guard hasOtherWays(than: walk) else { return true }
        var bound = 128
        while true {
            if try countOfBest(limit: bound) != nil { return false }
            var count = 0
            for scan in walk.scans(index.names.target) where count < bound {
                count += try index.snapshot.count(scan, limit: bound - count)
            }
            index.rows += count
            if count < bound { return true }
            bound *= 8
        }
    }
}

// MARK: - Sort

extension QueryExecution {
    /// Looks at all documents that fulfil some condition of each alternative.
    func sort() throws(StatusError) {
        try forEachCandidate { path throws(StatusError) in
            if let found = try find(path) { try selection.add(found) }
            return true
        }
        plan.append(query.limit == nil ? "Sort them" : "Keep the first of them")
        try selection.endGroup()
    }

    /// Calls `body` with each document that may be in the result, in no order, until it returns false.
    func forEachCandidate(_ body: (DocumentPath) throws(StatusError) -> Bool) throws(StatusError) {
        var goesOn = true
        for alternative in alternatives where goesOn {
            let accesses = alternative.accesses(implied)
            var access = accesses[0]
            if accesses.count > 1, let best = try index.best(accesses, alternative, limit: .max) { access = best.access }
            if case .places = access { noteSeen() }
            if alternatives.count > 1 { noteSeen() }
            plan.append(access.text + Self.looks(at: alternative, access))
            try index.forEach(access, alternative) { path throws(StatusError) in
                goesOn = try body(path)
                return goesOn
            }
        }
        plan.append("Read each and check it")
    }

    private static func looks(at alternative: QueryAlternative, _ access: DocumentAccess) -> String {
        switch access {
        case .range, .places, .all: looks(at: alternative.points)
        case .documents, .points: ""
        }
    }

    static func looks(at points: [FieldScan]) -> String {
        points.isEmpty
            ? "" : "; look up for each whether it is in the entries of " + points.map(\.text).joined(separator: " and of ")
    }
}

// MARK: - Walk

extension QueryExecution {
    /// Goes through the index in the order of the query.
    ///
    /// - Parameter work: After how much work it is looked whether sorting would be less; never when nil.
    func walk(_ walk: QueryWalk, until work: Int?) throws(StatusError) {
        let looks = alternatives.count == 1 ? alternatives[0].points.filter { $0.field != walk.field } : []
        plan.append(walk.text + Self.looks(at: looks))
        plan.append("Read and check each" + (query.limit == nil ? "" : " until there are enough"))
        if work != nil { noteSeen() }
        var nextCheck = work ?? .max
        let startRows = index.rows
        let startReads = documents.readCount
        var value: [UInt8]?
        for scan in walk.scans(index.names.target) {
            let cursor = try index.snapshot.cursor(scan)
            while try cursor.next() {
                index.rows += 1
                if let open = value, !cursor.value.elementsEqual(open) {
                    try selection.endGroup()
                    value = nil
                }
                if selection.isFull { return }
                let name = cursor.withName { Array($0) }
                if try mayHold(name, otherThan: walk.field), let path = index.names.path(name), let found = try find(path) {
                    try selection.add(found)
                    if walk.field != nil, walk.sortsEqualValues || ValueKey.isCut(byteCount: cursor.value.count) {
                        if value == nil { value = Array(cursor.value) }
                    } else {
                        try selection.endGroup()
                        if selection.isFull { return }
                    }
                }
                let done = index.rows - startRows + (documents.readCount - startReads) * Cost.document
                if done >= nextCheck {
                    if try countOfBest(limit: done / Cost.document) != nil {
                        plan.append("Give that up, since more is left than there are documents that fulfil the filter")
                        return try sort()
                    }
                    nextCheck = 2 * done
                }
            }
            // A value can't be in two ranges.
            if value != nil { try selection.endGroup() }
            value = nil
        }
    }

    private func mayHold(_ name: [UInt8], otherThan field: FieldPath?) throws(StatusError) -> Bool {
        for alternative in alternatives where try index.mayHold(alternative, name, otherThan: field) { return true }
        return false
    }
}

// MARK: - Merge

extension QueryExecution {
    /// The names of all documents that may be in the result, in order; nil when there is an alternative whose entries are in no
    /// such order.
    private func nameStream(_ walk: QueryWalk) throws(StatusError) -> (any NameStream)? {
        guard alternatives.allSatisfy({ $0.documents != nil || !$0.points.isEmpty }) else { return nil }
        var streams: [any NameStream] = []
        for alternative in alternatives {
            if let paths = alternative.documents {
                streams.append(ListedNames(paths.map { index.names.place(of: $0) }, isDescending: walk.isDescending))
            } else {
                let names = alternative.names.clamped(to: walk.names)
                streams.append(try index.names(in: alternative.points, names, isDescending: walk.isDescending))
            }
            plan.append(alternative.accesses([])[0].text)
        }
        return streams.count == 1 ? streams[0] : UnitedNames(streams, isDescending: walk.isDescending)
    }

    private func merge(_ stream: any NameStream, _ walk: QueryWalk) throws(StatusError) {
        plan.append("Read and check each in the order of the names" + (query.limit == nil ? "" : " until there are enough"))
        while let name = stream.current, !selection.isFull {
            if let path = index.names.path(name), let found = try find(path) {
                try selection.add(found)
                try selection.endGroup()
            }
            try stream.advance()
        }
    }
}

// MARK: - Rings

extension QueryExecution {
    private typealias RingOrder = (field: FieldPath, center: GeoPoint, direction: Query.Order.Direction)

    private var ringOrder: RingOrder? {
        guard let order = query.orders.first, case .distance(let field, let center) = order.key else { return nil }
        return (field, center, order.direction)
    }

    /// Half of the Earth's circumference: no place is farther away.
    private static let farthest = GeoPoint.earthRadius * .pi
    private static let firstRadius = 10.0

    /// Looks at the places around a point, or for the farthest first around the opposite one, farther and farther away.
    private func takeRings(
        _ field: FieldPath,
        _ center: GeoPoint,
        _ direction: Query.Order.Direction
    ) throws(StatusError) {
        let isNearest = direction == .ascending
        plan.append(
            "Take the documents with a place in \(field) in growing circles around the \(isNearest ? "point" : "opposite point")"
        )
        plan.append("Read and check each until there are enough")
        noteSeen()
        let middle = isNearest ? center : try center.opposite
        let end = isNearest ? farthestWanted(field, center) : Self.farthest
        var radius = Self.firstRadius
        while true {
            let isLast = radius >= end
            let reach = min(radius, end)
            let scan = PlaceScan(field, try GeoCircle(center: middle, radius: reach + 0.01).boundingBox)
            for box in scan.boxes {
                for alternative in alternatives {
                    _ = try index.forEach(box, of: field, alternative) { path throws(StatusError) in
                        if let found = try find(path) { try selection.add(found) }
                        return true
                    }
                }
            }
            if isLast { return try selection.endGroup() }
            try selection.endGroup { found in
                guard case .double(let distance)? = found.key.values.first else { return false }
                return isNearest ? distance <= reach : distance >= Self.farthest - reach
            }
            if selection.isFull { return }
            radius *= 2
        }
    }

    /// How far away a document may be by the filter.
    private func farthestWanted(_ field: FieldPath, _ center: GeoPoint) -> Double {
        guard alternatives.count == 1 else { return Self.farthest }
        let radii = alternatives[0].places.compactMap(\.circle).filter { $0.center == center }.map(\.radius)
        return min(Self.farthest, radii.min() ?? Self.farthest)
    }
}

extension GeoPoint {
    /// The place on the other side of the Earth.
    fileprivate var opposite: GeoPoint {
        get throws(StatusError) {
            try GeoPoint(validatingLatitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180)
        }
    }
}
