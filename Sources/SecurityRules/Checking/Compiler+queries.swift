internal import UTF8Text

extension Compiler {
    /// Warns of conditions for queries that ask what a query does not tell: all fields of a document, or the absence of one.
    ///
    /// Firestore's rules take fields that a query does not filter by as absent, and so allow queries that they should not. Here
    /// such a condition is not proved, and the query is denied.
    mutating func warnOfUndecidableQueries() {
        var pending = (program.allows[.list] ?? []).compactMap(\.condition)
        var seen = Set<NodeID>()
        while let node = pending.popLast() {
            guard seen.insert(node).inserted else { continue }
            if let test = undecidableTest(program.nodes[node.index]) {
                diagnostics.warn(
                    "A query tells only the fields that it filters or sorts by. Queries for which \(test) are denied, "
                        + "unless another condition allows them.",
                    at: program.ranges[node.index]
                )
            }
            pending += program.nodes[node.index].operands
            if case .functionCall(let function, _) = program.nodes[node.index] {
                pending += program.functions[function.index].bindings
                pending += [program.functions[function.index].result].compactMap(\.self)
            }
        }
    }

    private func undecidableTest(_ node: Program.Node) -> String? {
        switch node {
        case .valueCall(let function, let base, _, _) where isStoredData(base):
            switch function {
            case .keys, .values, .size, .diff: "resource.data.\(function.rawValue)() matters"
            case .get: "the field of resource.data.get() is not among these"
            default: nil
            }
        case .binary(.in, _, let map) where isStoredData(map):
            "the field of 'in resource.data' is not among these"
        case .binary(.equal, let left, let right), .binary(.notEqual, let left, let right):
            (isStoredData(left) && !isNull(right)) || (isStoredData(right) && !isNull(left))
                ? "resource.data as a whole matters" : nil
        default:
            nil
        }
    }

    /// Returns whether a node is null, which the fields of a document never are.
    private func isNull(_ node: NodeID) -> Bool {
        if case .literal(.null) = program.nodes[node.index] { true } else { false }
    }

    private func isStoredData(_ node: NodeID) -> Bool {
        guard case .member(let base, "data") = program.nodes[node.index], case .resource = program.nodes[base.index] else {
            return false
        }
        return true
    }
}
