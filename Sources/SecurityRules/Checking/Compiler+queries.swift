internal import UTF8Text

extension Compiler {
    /// Warns of conditions for queries that ask what a query does not tell: all fields of a document, or the absence of one.
    ///
    /// Firestore's rules take fields that a query does not filter by as absent, and so allow queries that they should not. Here
    /// such a condition is not proved, and the query is denied.
    mutating func warnOfUndecidableQueries() {
        for node in program.reachableNodes(of: .list) {
            guard let test = undecidableTest(program.nodes[node.index]) else { continue }
            diagnostics.warn(
                "A query tells only the fields that it filters or sorts by. Queries for which \(test) are denied, "
                    + "unless another condition allows them.",
                at: program.ranges[node.index]
            )
        }
    }

    private func undecidableTest(_ node: Program.Node) -> String? {
        switch node {
        case .valueCall(let function, let base, _, _) where program.isResourceData(base):
            switch function {
            case .keys, .values, .size, .diff: "resource.data.\(function.rawValue)() matters"
            case .get: "the field of resource.data.get() is not among these"
            default: nil
            }
        case .binary(.in, _, let map) where program.isResourceData(map):
            "the field of 'in resource.data' is not among these"
        case .binary(.equal, let left, let right), .binary(.notEqual, let left, let right):
            (program.isResourceData(left) && !isNull(right)) || (program.isResourceData(right) && !isNull(left))
                ? "resource.data as a whole matters" : nil
        default:
            nil
        }
    }

    /// Returns whether a node is null, which the fields of a document never are.
    private func isNull(_ node: NodeID) -> Bool {
        if case .literal(.null) = program.nodes[node.index] { true } else { false }
    }
}
