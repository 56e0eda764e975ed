/// A set of values, in the order of their first appearance.
package struct RuleSet: Hashable, Sendable {
    /// The distinct values.
    let elements: [RuleValue]
    private let members: Set<RuleValue>
    /// The work of reading the whole set.
    let weight: Int

    init(_ values: some Sequence<RuleValue>) {
        var members = Set<RuleValue>()
        elements = values.filter { members.insert($0).inserted }
        self.members = members
        weight = elements.reduce(1) { $0 + $1.weight }
    }

    var count: Int { elements.count }

    func contains(_ value: RuleValue) -> Bool { members.contains(value) }

    /// Returns whether both have the same values, in any order.
    package static func == (left: RuleSet, right: RuleSet) -> Bool { left.members == right.members }

    /// Hashes the values.
    package func hash(into hasher: inout Hasher) { hasher.combine(members) }
}
