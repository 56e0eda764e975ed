/// The values that an evaluation gave each expression.
struct EvaluationTrace: Sendable {
    private(set) var values: [(node: NodeID, value: String)] = []

    mutating func record(_ result: Result<RuleValue, EvaluationError>, of node: NodeID) {
        switch result {
        case .success(let value): values.append((node, value.description))
        case .failure(let error): values.append((node, error.reason.description))
        }
    }
}

/// The values that requests gave each expression of a rules file, with their numbers: the coverage report of tools.
package struct RulesCoverage: Sendable {
    private var counts: [NodeID: [String: Int]] = [:]

    /// Different values of an expression beyond this number are not kept.
    private static let maximumValues = 100

    /// Creates an empty report.
    package init() {}

    /// The report of an expression.
    package struct Report: Hashable, Sendable {
        /// The position of the expression.
        package let position: SourcePosition
        /// The values as text with their numbers, in the order of the text; none if the expression was never evaluated.
        package let values: [Value]
        /// The reports of its parts.
        package let children: [Report]
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
        for (node, value) in trace.values where counts[node].map({ $0[value] != nil || $0.count < Self.maximumValues }) ?? true {
            counts[node, default: [:]][value, default: 0] += 1
        }
    }

    /// Adds the values of another report about the same rules.
    package mutating func merge(_ other: RulesCoverage) {
        for (node, values) in other.counts { counts[node, default: [:]].merge(values, uniquingKeysWith: +) }
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
        let values = (counts[node] ?? [:]).map { Value(text: $0.key, count: $0.value) }.sorted { $0.text < $1.text }
        let children = program.nodes[node.index].operands.compactMap { report(of: $0, in: program) }
        return Report(position: program.position(of: node), values: values, children: children)
    }
}
