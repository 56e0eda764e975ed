internal import DocumentModel

extension QueryExecution {
    /// Looks at all documents that fulfil some condition of each alternative.
    func sort() throws(StatusError) {
        try forEachCandidate { path, alternative throws(StatusError) in
            if let found = try find(path, by: alternative) { try selection.add(found) }
            return true
        }
        plan.append(query.limit == nil ? "Sort them" : "Keep the first of them")
        try selection.endGroup()
    }

    /// Calls `body` with each document that may be in the result, and the alternative it may fulfil, in no order, until it returns
    /// false.
    ///
    /// A document comes again with another alternative, unless the index tells that it fulfils one before.
    func forEachCandidate(_ body: (DocumentPath, _ alternative: Int) throws(StatusError) -> Bool) throws(StatusError) {
        var goesOn = true
        for (number, alternative) in alternatives.enumerated() where goesOn {
            let accesses = alternative.accesses(implied)
            var access = accesses[0]
            if accesses.count > 1, let best = try index.best(accesses, alternative, limit: .max) { access = best.access }
            plan.append(access.text + Self.looks(at: alternative, access))
            var told: [(names: Range<NameBound>, sieve: NameSieve)] = []
            for before in alternatives[..<number] where before.isToldByLooks {
                told.append((before.names, try NameSieve([before], index)))
            }
            try index.forEach(access, alternative) { path throws(StatusError) in
                let name = told.isEmpty ? [] : index.names.place(of: path)
                for (names, sieve) in told where names.contains(NameBound(name)) {
                    if try sieve.passes(name) { return true }
                }
                goesOn = try body(path, number)
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
