internal import DocumentModel

/// A filter that excludes rows of a scan by index probes.
///
/// Probes that every result must pass are joined with the scan by the index; the others use an ``IndexProbeFilter``.
struct JoinedProbeFilter {
    private let joinedLookups: [IndexScan.PointLookup]
    /// The filter for the remaining probes; `nil` if there are none.
    private let probeFilter: IndexProbeFilter?
    private let reader: MeteredIndexReader

    /// The maximum number of joined probes. Databases can join only a limited number of tables, and few filters have more than eight.
    private static let maximumJoinCount = 8

    /// - Parameter covered: The fields whose predicates have already been evaluated.
    init(
        _ disjuncts: [FilterDisjunct],
        except covered: Set<FieldPath> = [],
        _ reader: MeteredIndexReader
    ) throws(StatusError) {
        var scans = disjuncts.map { $0.probeScans(except: covered) }
        var joinedLookups: [IndexScan.PointLookup] = []
        if scans.count == 1 {
            scans[0].removeAll { scan in
                guard scan.ranges.count == 1, joinedLookups.count < Self.maximumJoinCount else { return false }
                joinedLookups += scan.pointLookups
                return true
            }
        }
        self.joinedLookups = joinedLookups
        probeFilter = scans.contains(where: \.isEmpty) ? nil : try IndexProbeFilter(scans: scans, reader)
        self.reader = reader
    }

    /// Opens a cursor over a scan, whose rows include those that do not pass.
    func cursor(_ scan: IndexScan) throws(StatusError) -> any IndexCursor {
        try reader.snapshot.cursor(scan, probing: joinedLookups)
    }

    /// Returns the name of the document of the cursor's row; `nil` if it does not pass.
    func name(_ cursor: any IndexCursor) throws(StatusError) -> [UInt8]? {
        let matched = cursor.matchedProbeCount
        reader.entriesScanned += 1 + min(matched + 1, joinedLookups.count)
        guard matched == joinedLookups.count else { return nil }
        let name = cursor.name
        if let probeFilter, try !probeFilter.mayMatch(name) { return nil }
        return name
    }
}
