package import DocumentModel

extension QueryOracle {
    /// Returns whether a result equals the expected one: the same documents in the same order, with the same fields.
    package static func agrees(
        _ found: [EncodedDocument],
        with expected: [Found],
        of query: StructuredQuery
    ) throws(StatusError) -> Bool {
        guard found.count == expected.count else { return false }
        let search = query.vectorSearch
        for (found, expected) in zip(found, expected) {
            let fields = try found.decoded().fields
            // Documents at the same distance have no defined order.
            if let search, found.path != expected.path {
                guard query.projection.isEmpty, let distance = search.distance(of: fields), let other = expected.distance else {
                    continue
                }
                guard abs(distance - other) < 1e-9 else { return false }
            } else {
                guard found.path == expected.path, isClose(.map(fields), .map(expected.fields)) else { return false }
            }
        }
        return true
    }

    /// Returns whether two values are equal, except for rounding errors of doubles.
    package static func isClose(_ found: Value, _ expected: Value) -> Bool {
        switch (found, expected) {
        case (.double(let found), .double(let expected)):
            found == expected || (found.isNaN && expected.isNaN)
                || abs(found - expected) <= 1e-9 * max(1, max(abs(found), abs(expected)))
        case (.map(let found), .map(let expected)):
            found.count == expected.count && zip(found, expected).allSatisfy { $0.key == $1.key && isClose($0.value, $1.value) }
        default: found == expected
        }
    }
}
