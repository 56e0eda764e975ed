internal import DocumentModel

/// Which documents can't fulfil a filter, as a look into the index at their names tells.
///
/// Asked of each row of a scan, so all that is the same for each is prepared once. Used only where its snapshot is.
struct NameSieve {
    /// For each alternative, for each of its fields that are looked at, its values.
    private let alternatives: [[[IndexLook]]]
    private let scanning: IndexScanning

    /// How many looks are less than reading a document.
    static let maximumLooks = 3

    init(_ alternatives: some Sequence<QueryAlternative>, _ scanning: IndexScanning) throws(StatusError) {
        try self.init(tests: alternatives.map { $0.looks() }, scanning)
    }

    /// - Parameter tests: For each alternative, the fields that are looked at.
    init(tests: [[FieldScan]], _ scanning: IndexScanning) throws(StatusError) {
        self.scanning = scanning
        var alternatives: [[[IndexLook]]] = []
        for tests in tests {
            var all: [[IndexLook]] = []
            for test in tests {
                var looks: [IndexLook] = []
                for point in test.points { looks.append(try IndexLook(point, of: scanning.names.target, scanning.snapshot)) }
                all.append(looks)
            }
            alternatives.append(all)
        }
        self.alternatives = alternatives
    }

    /// Whether the index does not exclude that a document fulfils one of the alternatives.
    func passes(_ name: [UInt8]) throws(StatusError) -> Bool {
        for tests in alternatives where try passes(name, tests) { return true }
        return false
    }

    private func passes(_ name: [UInt8], _ tests: [[IndexLook]]) throws(StatusError) -> Bool {
        for looks in tests where try !holds(name, looks) { return false }
        return true
    }

    private func holds(_ name: [UInt8], _ looks: [IndexLook]) throws(StatusError) -> Bool {
        for look in looks {
            scanning.rows += 1
            if try look.holds(name) { return true }
        }
        return false
    }
}

extension FieldScan {
    /// Whether few looks tell if a document is in the ranges.
    var isToldByLooks: Bool { isPoints && ranges.count <= NameSieve.maximumLooks }
}

extension QueryAlternative {
    /// What looks tell of.
    ///
    /// - Parameter fields: The fields of which it is known already.
    func looks(otherThan fields: Set<FieldPath> = []) -> [FieldScan] {
        scans.filter { $0.isToldByLooks && !$0.fields.isSubset(of: fields) }
    }

    /// Whether a document that passes the sieve, and whose name is among ``names``, fulfils the alternative.
    var isToldByLooks: Bool { isExact && !scans.isEmpty && scans.allSatisfy(\.isToldByLooks) }
}
