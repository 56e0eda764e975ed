internal import DocumentModel

extension QueryExecution {
    /// Goes through the index in the order of the query.
    ///
    /// - Parameter work: After how much work it is looked whether sorting would be less; never when nil.
    func walk(_ walk: QueryWalk, until work: Int?) throws(StatusError) {
        let looks = alternatives.count == 1 ? alternatives[0].points.filter { !$0.fields.isSubset(of: walk.fields) } : []
        plan.append(walk.text + Self.looks(at: looks))
        plan.append("Read and check each" + (query.limit == nil ? "" : " until there are enough"))
        let begun = selection
        let sieve = try RowSieve(alternatives, otherThan: walk.fields, index)
        var nextCheck = work ?? .max
        let startRows = index.rows
        let startReads = documents.readCount
        var value: [UInt8]?
        for scan in walk.scans(index.names.target) {
            let cursor = try sieve.cursor(scan)
            while try cursor.next() {
                if let open = value, !cursor.value.elementsEqual(open) {
                    try selection.endGroup()
                    value = nil
                }
                if selection.isFull { return }
                if let path = try sieve.document(cursor), let found = try find(path) {
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
                        selection = begun
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
}
