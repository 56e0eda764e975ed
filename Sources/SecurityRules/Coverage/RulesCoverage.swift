/// The values that requests gave each expression of a rules file, with their numbers: the coverage report of tools.
///
/// The reports of many sessions can be merged. The memory is limited, whatever the requests are: an expression has at most 100
/// different values and all expressions together at most 20,000, each of at most 200 bytes. Values beyond that are counted only.
package struct RulesCoverage: Sendable {
    private var counts: [NodeID: Counts] = [:]
    /// The number of different values of all expressions.
    private var valueCount = 0

    /// Different values of an expression beyond this number are counted together.
    private static let maximumValues = 100
    /// Different values of all expressions beyond this number are counted together.
    private static let maximumTotalValues = 20_000

    /// The values of an expression.
    private struct Counts: Sendable {
        var values: [String: Int] = [:]
        /// The number of values that are not among them.
        var others = 0
    }

    /// Creates an empty report.
    package init() {}

    /// The report of an expression.
    package struct Report: Hashable, Sendable {
        /// The position of the expression.
        package let position: SourcePosition
        /// The values as text with their numbers, in the order of the text; none if the expression was never evaluated. The last
        /// one is `…` if there were more than are kept.
        package let values: [Value]
        /// The reports of its parts.
        package let children: [Report]

        /// The number of times that the expression was evaluated.
        package var count: Int { values.reduce(0) { $0 + $1.count } }
    }

    /// A value of an expression, with the number of times that it had it.
    package struct Value: Hashable, Sendable {
        /// The value, or the message of an error.
        package let text: String
        /// The number of times.
        package let count: Int
    }

    /// Adds the values of an evaluation.
    mutating func merge(_ trace: EvaluationTrace) {
        for (node, value) in trace.values { add(value, 1, to: node) }
    }

    /// Adds the values of another report about the same rules.
    package mutating func merge(_ other: RulesCoverage) {
        for (node, added) in other.counts {
            for (value, count) in added.values { add(value, count, to: node) }
            if added.others > 0 { counts[node, default: Counts()].others += added.others }
        }
    }

    private mutating func add(_ value: String, _ count: Int, to node: NodeID) {
        let known = counts[node]
        if known?.values[value] == nil {
            guard valueCount < Self.maximumTotalValues, (known?.values.count ?? 0) < Self.maximumValues else {
                counts[node, default: Counts()].others += count
                return
            }
            valueCount += 1
        }
        counts[node, default: Counts()].values[value, default: 0] += count
    }

    /// Returns the reports of all conditions and functions, in the order of the text. Constants have none.
    package func reports(of ruleset: Ruleset) -> [Report] {
        let program = ruleset.program
        var roots = Set(program.allows.values.joined().compactMap(\.condition))
        for function in program.functions { roots.formUnion(function.bindings + [function.result].compactMap(\.self)) }
        return roots.sorted { program.ranges[$0.index].start < program.ranges[$1.index].start }
            .compactMap { report(of: $0, in: program) }
    }

    private func report(of node: NodeID, in program: Program) -> Report? {
        if case .literal = program.nodes[node.index] { return nil }
        let counts = counts[node] ?? Counts()
        var values = counts.values.map { Value(text: $0.key, count: $0.value) }.sorted { $0.text < $1.text }
        if counts.others > 0 { values.append(Value(text: "…", count: counts.others)) }
        var parts = program.nodes[node.index].operands
        // Members of the request are read without evaluating the whole.
        if case .member(let base, _) = program.nodes[node.index], case .request = program.nodes[base.index] { parts = [] }
        let children = parts.compactMap { report(of: $0, in: program) }
        return Report(position: program.position(of: node), values: values, children: children)
    }
}
