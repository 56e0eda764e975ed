internal import DocumentModel

/// A filter that excludes candidates by index probes before their documents are read.
///
/// The probes are prepared once. A filter must be used on its view's thread.
struct IndexProbeFilter {
    /// The probes by disjunct and by predicate: a document must pass one probe of each predicate of a disjunct.
    private let disjuncts: [[[any IndexProbe]]]
    private let reader: MeteredIndexReader

    /// The maximum number of probes per predicate; more would not be cheaper than reading a document.
    static let maximumProbeCount = 3

    init(_ disjuncts: some Sequence<FilterDisjunct>, _ reader: MeteredIndexReader) throws(StatusError) {
        try self.init(scans: disjuncts.map { $0.probeScans() }, reader)
    }

    /// - Parameter scans: The scans to probe, by disjunct.
    init(scans: [[FieldScan]], _ reader: MeteredIndexReader) throws(StatusError) {
        self.reader = reader
        var disjuncts: [[[any IndexProbe]]] = []
        for scans in scans {
            var predicates: [[any IndexProbe]] = []
            for scan in scans {
                var probes: [any IndexProbe] = []
                for lookup in scan.pointLookups {
                    probes.append(try reader.snapshot.probe(lookup, of: reader.names.target))
                }
                predicates.append(probes)
            }
            disjuncts.append(predicates)
        }
        self.disjuncts = disjuncts
    }

    /// Returns whether a document can match one of the disjuncts, according to the index.
    func mayMatch(_ name: [UInt8]) throws(StatusError) -> Bool {
        for predicates in disjuncts where try matchesAll(name, predicates) { return true }
        return false
    }

    private func matchesAll(_ name: [UInt8], _ predicates: [[any IndexProbe]]) throws(StatusError) -> Bool {
        for probes in predicates where try !matchesAny(name, probes) { return false }
        return true
    }

    private func matchesAny(_ name: [UInt8], _ probes: [any IndexProbe]) throws(StatusError) -> Bool {
        for probe in probes {
            reader.entriesScanned += 1
            if try probe.contains(name) { return true }
        }
        return false
    }
}

extension FieldScan {
    /// True if a few probes show whether a document is in the ranges.
    var isCoveredByProbes: Bool { isPointLookup && ranges.count <= IndexProbeFilter.maximumProbeCount }
}

extension FilterDisjunct {
    /// Returns the scans that are evaluated by probes.
    ///
    /// - Parameter covered: The fields whose predicates have already been evaluated.
    func probeScans(except covered: Set<FieldPath> = []) -> [FieldScan] {
        scans.filter { $0.isCoveredByProbes && !$0.fields.isSubset(of: covered) }
    }

    /// True if a document that passes all probes, and whose name is in ``names``, matches the disjunct.
    var isCoveredByProbes: Bool { isExact && !scans.isEmpty && scans.allSatisfy(\.isCoveredByProbes) }
}
