internal import DocumentModel

extension QueryExecution {
    /// Executes a nearest-neighbor scan until the result is complete.
    func run(_ scan: GeoNearestNeighborScan) throws(StatusError) {
        plan.append(scan.planText)
        plan.append("Read each document and apply the filter, up to the limit")
        let filter = try IndexProbeFilter(disjuncts, index)
        var scannedBoxes: [GeoIndexBox] = []
        try scan.forEachStep { radius, boxes throws(StatusError) in
            try index.snapshot.forEachGeoPoint(
                index.names.target,
                scan.field,
                in: boxes,
                outside: scannedBoxes
            ) { name throws(StatusError) in
                index.entriesScanned += 1
                if try filter.mayMatch(Array(name)), let path = index.names.path(name), let match = try evaluate(path) {
                    try collector.add(match)
                }
                return true
            }
            scannedBoxes = boxes
            try collector.finishGroup { match in
                guard case .double(let distance)? = match.key.values.first else { return false }
                return scan.isFinal(distance: distance, radius: radius)
            }
            return !collector.isFull
        }
        try collector.finishGroup()
    }
}
