internal import UTF8Text

/// A map of which a query tells some members. It may have any others.
struct SymbolicMap: Sendable {
    private var members: [UTF8Key: Member] = [:]

    /// A member: its value, if facts are about it, and the members inside, if facts are about these.
    private struct Member: Sendable {
        var value: RuleValue?
        var inner = SymbolicMap()
    }

    /// True if the query tells no member.
    var isEmpty: Bool { members.isEmpty }

    /// Adds a value at a path of names. An exact value is kept rather than facts.
    mutating func insert(_ value: RuleValue, at path: ArraySlice<UTF8Key>) {
        guard let name = path.first else { return }
        var member = members[name] ?? Member()
        if path.count > 1 {
            member.inner.insert(value, at: path.dropFirst())
        } else {
            member.value = member.value.map { $0.combined(with: value) } ?? value
        }
        members[name] = member
    }

    /// The value of a member that every document has; `nil` if the query does not tell.
    subscript(name: UTF8Key) -> RuleValue? {
        guard let member = members[name] else { return nil }
        if let value = member.value, value.isConcrete || member.inner.members.isEmpty { return value }
        return .map(RuleMap(member.inner))
    }
}

extension RuleValue {
    /// Returns what two facts about the same field tell.
    fileprivate func combined(with other: RuleValue) -> RuleValue {
        guard case .symbolic(let left) = self else { return self }
        guard case .symbolic(let right) = other else { return other }
        return .symbolic(SymbolicValue(type: left.type ?? right.type, facts: left.facts + right.facts))
    }
}
